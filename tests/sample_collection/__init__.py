"""The invented sample collection and the generator that writes it byte for byte."""
