"""Judges: their settings, prompts, requests, replies, store and cost."""
