"""The scorecard."""
