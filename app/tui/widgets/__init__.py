"""The parts of the screen, one concept a file, its style sheet beside it."""
