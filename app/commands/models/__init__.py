"""``slipstream models``: list, pull, rm, check, add, verify, where. One file for each kind of work."""
