"""Model files as they lie on disk: read, judged and matched without loading them."""
