"""The run loop: one prompt to one result, with every failure's evidence kept."""
