"""Settings: which source wins, where a value comes from, and what a wrong one is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from golem_cli.core.errors import ConfigurationError
from golem_cli.core.price import Rates
from golem_cli.store.paths import resolve_paths
from golem_cli.store.settings import SETTINGS, ProviderSettings, Settings, load_settings
from golem_cli.store.settings.key_command import run_key_command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_flags_win_over_environment_over_file_over_defaults(file: Path) -> None:
    file.write_text('model = "file"\ntrim = 1\nbudget = 1\n')
    found = load_settings(
        flags={"model": "flag", "trim": None}, env={"GOLEM_MODEL": "env", "GOLEM_TRIM": "2"}, file=file
    )
    assert (found.settings.model, found.settings.trim, found.settings.budget) == ("flag", 2, 1)
    assert found.settings.max_attempts == Settings().max_attempts
    assert found.origins["model"] == "flag"
    assert found.origins["trim"] == "environment GOLEM_TRIM"
    assert found.origins["budget"] == str(file)
    assert found.origins["max_attempts"] == "default"


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    found = load_settings(env={"GOLEM_MODEL": ""}, file=tmp_path / "none.toml")
    assert found.settings == Settings()
    assert found.settings.trim == 20
    assert set(found.origins.values()) == {"default"}


def test_the_table_has_every_setting() -> None:
    assert [setting.name for setting in SETTINGS] + ["providers", "prices"] == list(Settings._fields)
    assert {setting.variable for setting in SETTINGS} >= {"GOLEM_MODEL", "GOLEM_TRIM", "GOLEM_TOP_P"}


def test_a_whole_file_is_read(file: Path) -> None:
    file.write_bytes(
        b"\xef\xbb\xbf"
        b"""
model = "openai:gpt-5-mini"
temperature = 1
top_p = 0.5
vi_mode = true
[providers.openai]
base_url = "http://127.0.0.1:1/v1"
api_key_command = "pass show 'my key'"
[providers.groq]
api_key_command = ["op", "read", "x y"]
"""
    )
    found = load_settings(env={}, file=file).settings
    assert (found.temperature, found.top_p, found.vi_mode) == (1.0, 0.5, True)
    assert found.providers == {
        "openai": ProviderSettings(
            base_url="http://127.0.0.1:1/v1", api_key_command=("pass", "show", "my key")
        ),
        "groq": ProviderSettings(api_key_command=("op", "read", "x y")),
    }


@pytest.mark.parametrize(
    ("told", "meant"), [("adaptive", "adaptive"), (" Off ", "off"), ("2048", 2048), ("", None)]
)
def test_thinking_is_a_word_or_a_budget(told: str, meant: object) -> None:
    assert load_settings(env={"GOLEM_THINKING": told}).settings.thinking == meant


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("modle = 'x'", "there is no setting 'modle'; did you mean 'model'?"),
        ("vi-mode = true", "did you mean 'vi_mode'?"),
        ("qqqq = 1", "known are model, system"),
        (
            "[providers.openai]\nbase-url = 'x'",
            "providers.openai: there is no setting 'base-url'; did you mean",
        ),
        ("trim = 'twenty'", "trim must be a whole number, 0 for off, not 'twenty'"),
        ("trim = true", "trim must be a whole number"),
        ("trim = -1", "trim must be a whole number, 0 for off, not -1"),
        ("max_attempts = 0", "at least 1, not 0"),
        ("temperature = nan", "temperature must be a number from 0 to 2"),
        ("plain = 1", "plain must be true or false, not 1"),
        ("thinking = 'much'", "thinking must be adaptive, off or a number of tokens, not 'much'"),
        ("thinking = true", "thinking must be adaptive, off or a number of tokens"),
        ("secrets = 'blok'", "secrets must be warn, block or off, not 'blok'"),
        ("secrets = ['warn']", "secrets must be warn, block or off"),
        ("model = 1", "model must be text, not 1"),
        ("providers = 1", "providers must be tables"),
        ("[providers]\nopenai = 'x'", "providers.openai must be a table"),
        ("[providers.a]\napi_key_command = ''", "must be a command"),
        ('[providers.a]\napi_key_command = "pass \'x"', "must be a command"),
        ("[providers.a]\napi_key_command = [1]", "must be a command"),
        ("model = ", "this is not TOML"),
        ("a = 1\na = 2", "this is not TOML"),
        ("a = " + "[" * 5000, "this is not TOML"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_it(file: Path, text: str, says: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(env={}, file=file)
    assert says in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ['api_key = "sk-secret"', '[providers.openai]\napi_key = "sk-secret"'])
def test_a_key_in_the_file_is_refused_and_not_shown(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="keys are not kept in files") as caught:
        load_settings(env={}, file=file)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_text_or_no_file_is_one_line(file: Path, tmp_path: Path) -> None:
    file.write_bytes(b'model = "\xff"')
    with pytest.raises(ConfigurationError, match="byte 9 is not UTF-8"):
        load_settings(env={}, file=file)
    with pytest.raises(ConfigurationError, match="it is a folder"):
        load_settings(env={}, file=tmp_path)


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("GOLEM_PLAIN", "YES", True),
        ("GOLEM_PLAIN", "0", False),
        ("GOLEM_TEMPERATURE", "0.25", 0.25),
        ("GOLEM_BUDGET", " 4000 ", 4000),
        ("GOLEM_SYSTEM", " as it is ", " as it is "),
    ],
)
def test_variables_are_read_as_their_kind(variable: str, text: str, value: object) -> None:
    settings = load_settings(env={variable: text}).settings
    assert getattr(settings, variable.removeprefix("GOLEM_").lower()) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("GOLEM_PLAIN", "maybe"),
        ("GOLEM_TRIM", "1.5"),
        ("GOLEM_TRIM", "\uff19"),
        ("GOLEM_TRIM", "9" * 5000),
        ("GOLEM_TOP_P", "inf"),
    ],
)
def test_a_wrong_variable_is_named(variable: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{variable} must be ") as caught:
        load_settings(env={variable: text})
    assert len(str(caught.value)) < 160


def test_a_wrong_flag_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"^--top-p must be a number from 0 to 1, not 2"):
        load_settings(flags={"top_p": 2}, env={})
    with pytest.raises(ConfigurationError, match="did you mean 'trim'"):
        load_settings(flags={"trimm": 2}, env={})


def test_golem_home_moves_everything_but_the_weights(tmp_path: Path) -> None:
    home = tmp_path / "g"
    moved = resolve_paths({"GOLEM_HOME": str(home)})
    assert {moved.data, moved.config} == {home}
    assert moved.state.is_relative_to(home)
    assert not moved.cache.is_relative_to(home)
    assert (
        resolve_paths({"GOLEM_HOME": str(home), "GOLEM_CACHE": str(tmp_path / "w")}).cache == tmp_path / "w"
    )
    assert not home.exists()


def test_without_variables_the_platform_decides(home: Path) -> None:
    """Below the user's home folder, and nothing of it in the working folder."""
    paths = resolve_paths({"GOLEM_HOME": "", "GOLEM_CACHE": ""})
    for folder in (paths.data, paths.config, paths.state, paths.cache):
        assert folder.is_relative_to(home)
        assert "golem" in folder.name
    assert paths.prompt_history.is_relative_to(paths.state)


def key_of(program: str, *words: str, timeout: float = 30) -> str:
    return run_key_command((sys.executable, "-c", program, *words), provider="openai", timeout=timeout)


def test_a_command_prints_the_key() -> None:
    assert key_of("print('sk-123  ')\nprint('note: from the vault')") == "sk-123"


def test_the_words_of_a_command_reach_no_shell() -> None:
    assert key_of("import sys; print(sys.argv[1].replace(' ', '_'))", "$HOME; ls") == "$HOME;_ls"


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("raise SystemExit(3)", "failed with exit code 3"),
        ("pass", "printed no key"),
        ("print('  ')", "printed no key"),
        ("print('secret value')", "cannot be a key"),
        ("print('secret\\x1b[0m')", "cannot be a key"),
        ("import time; time.sleep(60)", "gave no key within 0.5 seconds"),
    ],
)
def test_a_command_that_fails_is_one_line_without_its_output(program: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        key_of(program, "hidden-argument", timeout=0.5 if "sleep" in program else 30)
    text = str(caught.value)
    assert says in text
    assert text.startswith("providers.openai.api_key_command: ")
    assert "secret" not in text
    assert "hidden" not in text


def test_a_command_that_does_not_exist_is_one_line() -> None:
    with pytest.raises(ConfigurationError, match="cannot run golem-no-such-program"):
        run_key_command(("golem-no-such-program",), provider="openai")


def test_prices_are_read_with_their_rates(file: Path) -> None:
    file.write_text('[prices."openai:gpt-5-mini"]\ninput = 0.25\ncache_read = 0\noutput = 2\n')
    found = load_settings(env={}, file=file)
    assert found.settings.prices == {"openai:gpt-5-mini": Rates(input=0.25, output=2, cache_read=0)}
    assert found.origins["prices"] == str(file)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("prices = 1", "prices must be tables"),
        ("[prices.mini]\ninput = 1", "a model is named PROVIDER:NAME"),
        ('[prices]\n"a:b" = 1', "must be a table"),
        ('[prices."a:b"]\ninput = 1', "output is missing"),
        ('[prices."a:b"]\ninput = 1\noutput = -1', "output must be a number of at least 0, not -1"),
        ('[prices."a:b"]\ninput = true\noutput = 1', "input must be a number"),
        ('[prices."a:b"]\nin = 1', "there is no rate 'in'; known are input, output"),
        ("max_cost = 0", "max_cost must be a number above 0"),
        ("retry_jitter = 2", "retry_jitter must be a number from 0 to 1"),
    ],
)
def test_wrong_prices_are_told_in_one_line(file: Path, text: str, reason: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=reason) as caught:
        load_settings(env={}, file=file)
    assert "\n" not in str(caught.value)
