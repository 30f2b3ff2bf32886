"""Slipstream's tests; a package, so that fixtures can be imported by name."""
