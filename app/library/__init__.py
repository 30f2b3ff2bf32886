"""Where model files come from: the catalogue of known pairs, and the files on this disk."""
