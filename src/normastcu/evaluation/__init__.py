"""Measures and statistics as pure functions on arrays and frames."""
