"""Makes the stores of other tools that the tests of `told import` read, by running the real tools."""
