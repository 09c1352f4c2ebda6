"""Figures, tables and the terminal summary."""
