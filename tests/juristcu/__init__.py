"""The released files of JurisTCU as a collection of the project."""

from tests.juristcu.files import write_collection

__all__ = ["write_collection"]
