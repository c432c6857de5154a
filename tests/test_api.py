"""The public API: what `golem_cli.__all__` lists, complete, documented, and loaded only when used."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

import golem_cli

DESIGNED: Final = {
    *(
        "Agent",
        "Message",
        "ToolCall",
        "Part",
        "ThinkingBlock",
        "Usage",
        "Result",
        "RunError",
        "PartialResult",
    ),
    *("Stage", "Tool", "ToolResult", "ToolCanceled", "ToolFailed", "ToolDeferred", "ModelRetry"),
    *("HistoryRepair", "SanitizeReport", "UnsafePart", "normalize_history", "sanitize_history"),
    *("trim_history", "budget_history", "new_id", "load_messages", "dump_messages"),
    *("UsageLimit", "RunEvent", "Delta"),
}
"""What the design promises; the rest of `__all__` is what a user of these needs besides."""

NAMES: Final = [name for name in golem_cli.__all__ if name != "__version__"]
SOURCE: Final = ast.parse(Path(golem_cli.__file__).read_text(encoding="utf-8"))


def type_checked_imports() -> dict[str, set[str]]:
    """What a type checker sees: module → names, from the block under `if TYPE_CHECKING:`."""
    block = next(
        node
        for node in SOURCE.body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )
    return {
        node.module or "": {alias.name for alias in node.names}
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    }


def docstring_in_source(name: str) -> str | None:
    """The docstring that somebody wrote: a dataclass without one makes up its own, a type alias has none."""
    value = getattr(golem_cli, name)
    home = getattr(value, "__module__", "")
    if not home.startswith("golem_cli"):  # an alias of a type from `typing`
        home = f"golem_cli.{golem_cli._HOME_OF[name]}"
    body = ast.parse(inspect.getsource(import_module(home))).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return ast.get_docstring(node)
        if isinstance(node, ast.Assign) and any(getattr(each, "id", "") == name for each in node.targets):
            text = after.value if isinstance(after, ast.Expr) else None
            return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
    return None


def test_all_is_sorted_and_without_repetition() -> None:
    assert len(set(golem_cli.__all__)) == len(golem_cli.__all__)
    assert sorted(golem_cli.__all__) == golem_cli.__all__


def test_all_holds_what_the_design_promises() -> None:
    assert set(golem_cli.__all__) >= DESIGNED


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there(name: str) -> None:
    assert getattr(golem_cli, name) is not None


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_documented(name: str) -> None:
    assert docstring_in_source(name), f"{name} has no docstring of its own"


def test_a_type_checker_sees_what_is_loaded_when_used() -> None:
    """The imports under TYPE_CHECKING and the table of homes name the same things in the same places."""
    loaded = {f"golem_cli.{home}": set(names.split()) for home, names in golem_cli._HOMES.items()}
    assert type_checked_imports() == loaded


def test_the_homes_are_what_all_lists() -> None:
    assert sorted([*golem_cli._HOME_OF, "__version__"]) == golem_cli.__all__


def test_dir_lists_the_api() -> None:
    assert dir(golem_cli) == golem_cli.__all__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Agents'"):
        golem_cli.Agents  # noqa: B018 (the look-up itself is tested)


def test_the_version_has_three_numbers() -> None:
    assert re.match(r"\d+\.\d+\.\d+", golem_cli.__version__)


def test_importing_the_package_imports_nothing_heavy() -> None:
    """`import golem_cli` loads the package and its version, no library and no module of ours."""
    code = (
        "import sys; before = set(sys.modules); import golem_cli; print(*sorted(set(sys.modules) - before))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert set(shown.split()) <= {"golem_cli", "golem_cli._version", "__future__"}


def test_the_package_says_that_it_is_typed() -> None:
    """Without the marker of PEP 561 a type checker would not look inside."""
    assert Path(golem_cli.__file__).with_name("py.typed").is_file()
