"""A public scripted model and friends, for the tests of applications that use golem."""
