"""`golem doctor`: looks at everything, changes nothing, and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from golem_cli.cli.exit_codes import DONE, FOUND, epilog

if TYPE_CHECKING:
    from golem_cli.cli.checkup.check import Check
    from golem_cli.cli.environment import Environment

EPILOG = epilog("golem doctor", "golem doctor --offline --json", exit_1="a problem was found")


def command(
    context: typer.Context,
    *,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no service whether it answers.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object.")] = False,
) -> int:
    """Look for what is wrong, and change nothing.

    Looked at are the installation, settings, keys, services, folders and every file of the store.
    Services are asked for their models when a key or an address is set for them, and no others. Keys are
    never shown.
    """
    from golem_cli.cli.checkup.check import Level, Scope, guarded
    from golem_cli.cli.checkup.families import FAMILIES
    from golem_cli.cli.home import paths_of

    environment = context.obj
    scope = Scope(environment=environment, paths=paths_of(environment), offline=offline)
    found: dict[str, list[Check]] = {}
    for name, family in FAMILIES.items():
        found[name] = list(guarded(name, family(scope)))  # none takes the others down
        if not as_json:
            _show(name, found[name], environment)
    levels = [check.level for checks in found.values() for check in checks]
    problems, notes = levels.count(Level.PROBLEM), levels.count(Level.NOTE)
    if as_json:
        environment.say_json(_json(found, problems, notes))
    else:
        from golem_cli.render.words import counted

        environment.say(f"{counted(problems, 'problem')}, {counted(notes, 'note')}")
    return FOUND if problems else DONE


def _show(family: str, checks: list[Check], environment: Environment) -> None:
    from golem_cli.render.neutralize import one_line

    environment.say(family)
    for check in checks:
        environment.say(f"  {check.level:<7}  {one_line(check.text)}")
        if check.advice:
            environment.say(f"           → {one_line(check.advice)}")
    environment.say("")


def _json(found: dict[str, list[Check]], problems: int, notes: int) -> dict[str, object]:
    return {
        "problems": problems,
        "notes": notes,
        "checks": [
            {"family": family, "name": check.name, "level": check.level, "text": check.text}
            | ({"advice": check.advice} if check.advice else {})
            for family, checks in found.items()
            for check in checks
        ],
    }
