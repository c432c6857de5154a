"""The settings in force: which there are, what they may be, where each value comes from."""

from golem_cli.store.settings.known import SETTINGS, ProviderSettings, Setting, Settings
from golem_cli.store.settings.sources import Configuration, load_settings

__all__ = ["SETTINGS", "Configuration", "ProviderSettings", "Setting", "Settings", "load_settings"]
