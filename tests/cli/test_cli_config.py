"""`golem config` and `golem models`: what is in force, where it comes from, what can be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.golem_runs import golem, golem_process

if TYPE_CHECKING:
    from collections.abc import Mapping

CANARY = "sk-not-to-be-seen"


@pytest.fixture
def settings_file(home: Path) -> Path:
    """The path of the settings file; nothing is there yet."""
    file = home / "golem" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def settings() -> Mapping[str, tuple[object, str]]:
    listed = golem("config", "--json").json["settings"]
    return {each["name"]: (each["value"], each["origin"]) for each in listed}


def test_without_a_file_everything_is_the_default(settings_file: Path) -> None:
    assert settings()["trim"] == (20, "default")
    assert str(settings_file) in golem("config").out


def test_the_environment_goes_before_the_file(settings_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_file.write_text('model = "openai:a"\ntrim = 30\n')
    monkeypatch.setenv("GOLEM_TRIM", "40")
    assert settings()["model"] == ("openai:a", str(settings_file))
    assert settings()["trim"] == (40, "environment GOLEM_TRIM")
    out = golem("config").out
    assert "GOLEM_TRIM" in out
    assert "openai:a" in out


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("modle = 'x'\n", "did you mean 'model'?"),
        ("trim = 'many'\n", "trim"),
        ("trim =\n", "TOML"),
        (f"openai_api_key = '{CANARY}'\n", "key"),
    ],
)
def test_a_faulty_file_is_one_line(text: str, named: str, settings_file: Path) -> None:
    settings_file.write_text(text)
    done = golem("config")
    assert done.code == 2
    assert named in done.error_line
    assert str(settings_file) in done.error_line
    assert CANARY not in done.err


def test_of_a_key_command_only_the_program_is_shown(settings_file: Path) -> None:
    settings_file.write_text(f'[providers.openai]\napi_key_command = ["echo", "{CANARY}"]\n')
    for arguments in (["config"], ["config", "--json"], ["models"], ["models", "--json"]):
        done = golem(*arguments)
        assert done.code == 0
        assert CANARY not in done.out + done.err
    assert "echo" in golem("config").out


def test_models_says_what_can_be_used_and_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", CANARY)
    done = golem("models", "--json")
    providers = {each["name"]: each for each in done.json}
    assert (providers["groq"]["usable"], providers["groq"]["reason"]) == (True, "key from GROQ_API_KEY")
    assert not providers["openai"]["usable"]
    assert "OPENAI_API_KEY" in providers["openai"]["reason"]
    assert "local" in providers
    assert CANARY not in done.out
    lines = golem("models").out.splitlines()
    assert lines[0].split()[:2] == ["yes", "groq"]  # what can be used comes first


def test_a_server_on_a_shared_port_is_not_asked_unless_configured() -> None:
    """8000 and 8080 may be anything."""
    providers = {each["name"]: each for each in golem("models", "--json").json}
    assert "VLLM_BASE_URL" in providers["vllm"]["reason"]
    assert "LLAMACPP_BASE_URL" in providers["llamacpp"]["reason"]


def test_a_configured_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:1/v1")
    providers = {each["name"]: each for each in golem("models", "--json").json}
    assert providers["vllm"] == {
        "name": "vllm",
        "usable": False,
        "reason": "no server answers at 127.0.0.1:1",
        "models": [],
    }


def test_completion_of_commands_comes_from_typer() -> None:
    """A shell asks through `_GOLEM_COMPLETE`; the answer names the commands."""
    done = golem_process(
        variables={
            "_GOLEM_COMPLETE": "complete_bash",
            "COMP_WORDS": "golem nor",
            "COMP_CWORD": "1",
        }
    )
    assert done.out.split() == ["normalize"]
    assert done.err == ""


def test_debug_shows_the_traceback_without_values() -> None:
    done = golem("show", "nobody-knows", "--debug")
    assert done.code == 2
    assert "Traceback (most recent call last)" in done.err
    assert done.err.splitlines()[-1].startswith("golem: there is no conversation")
    assert "Traceback" not in golem("show", "nobody-knows").err
