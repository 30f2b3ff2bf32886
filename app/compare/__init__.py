"""The same request answered in several ways, from the same start to the same end: what speculation brings here."""
