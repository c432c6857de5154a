"""The tests; a package so that `tests.support` has one name everywhere."""
