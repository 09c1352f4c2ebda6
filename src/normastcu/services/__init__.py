"""Talking to services: keys, failures, patience, the OpenAI protocol, tokens, prices."""
