"""Kedro datasets of our own."""
