"""The commands, a module each: Typer calls its `command`, whose docstring is the help."""
