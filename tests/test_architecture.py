"""The house: arrows between layers point down only, and the core knows no file, no screen, no network."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import golem_cli

PACKAGE = Path(golem_cli.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

MAY_IMPORT = {
    "core": {"core"},
    "store": {"core", "store"},
    "providers": {"core", "providers"},
    "tools": {"core", "tools"},
    "testing": {"core", "testing"},
    "chat": {"core", "store", "providers", "tools", "chat"},
    "render": {"core", "chat", "render"},
    "repl": {"core", "chat", "render", "repl"},
    "cli": {"core", "store", "providers", "tools", "chat", "render", "repl", "cli"},
}
CORE_LIBRARIES = {"msgspec", "uuid_utils"}
CORE_FORBIDDEN = {
    "pathlib",
    "os",
    "io",
    "socket",
    "ssl",
    "http",
    "urllib.request",
    "subprocess",
    "tempfile",
    "shutil",
    "curses",
}


def imports(path: Path) -> set[str]:
    """Every module that `path` imports, at any depth of the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def room(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def name_of(path: Path) -> str:
    return ".".join(("golem_cli", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_arrows_point_down(path: Path) -> None:
    """A module imports its own layer and the layers below it, nothing else."""
    here = room(name_of(path))
    if here not in MAY_IMPORT:
        return  # the package itself, its version and its entry point
    ours = {room(name) for name in imports(path) if name.startswith("golem_cli.")}
    allowed = MAY_IMPORT[here] | {"_version"}
    assert ours <= allowed, f"{name_of(path)} imports {sorted(ours - allowed)}"


@pytest.mark.parametrize("path", [path for path in MODULES if room(name_of(path)) == "core"], ids=name_of)
def test_the_core_is_pure(path: Path) -> None:
    """The core imports the standard library, itself, the JSON codec library and uuid-utils; no I/O."""
    for name in imports(path):
        top = name.split(".")[0]
        assert top == "golem_cli" or top in CORE_LIBRARIES or top in sys.stdlib_module_names, name
        assert not any(name == bad or name.startswith(f"{bad}.") for bad in CORE_FORBIDDEN), name


def test_every_layer_is_a_room_of_the_house() -> None:
    """No package stands beside the documented layers."""
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms <= set(MAY_IMPORT)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("providers/wire/*.py")), ids=name_of)
def test_what_the_formats_share_knows_no_format_and_no_network(path: Path) -> None:
    """`providers/wire` is pure, as the core is: it stands on the core and on itself."""
    ours = {name for name in imports(path) if name.startswith("golem_cli.")}
    assert all(name.startswith(("golem_cli.core.", "golem_cli.providers.wire.")) for name in ours), ours
    tops = {name.split(".")[0] for name in imports(path) - ours}
    assert tops <= (set(sys.stdlib_module_names) | CORE_LIBRARIES) - CORE_FORBIDDEN, tops
