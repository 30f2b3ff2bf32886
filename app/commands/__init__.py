"""What the commands do; app.cli only says which there are, so that --help imports next to nothing."""
