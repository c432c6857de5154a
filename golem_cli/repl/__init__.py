"""The interactive loop: prompt-toolkit, slash commands, key bindings."""
