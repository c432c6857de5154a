"""The checks of `golem doctor`: a module for each family, none of which ever writes."""
