"""Errors that reach a person: one line each, saying what is wrong and what to do."""

from __future__ import annotations


class BiasfwError(Exception):
    """Base of every expected failure; the CLI prints it without a traceback.

    The message is one line: what is wrong, then the way out.
    """

    exit_code = 1


class UsageError(BiasfwError):
    """The command line or the configuration asks for something that cannot be (exit code 2)."""

    exit_code = 2


class DataError(BiasfwError):
    """A file that came in from outside is not what its schema says."""


class ComponentError(BiasfwError):
    """A component cannot be found, imported or built."""


class StoreError(BiasfwError):
    """The run directory cannot be used: locked, full, read-only or made by another run."""


class IncompleteError(BiasfwError):
    """Some responses failed; what was answered is stored (exit code 3)."""

    exit_code = 3


class FetchError(BiasfwError):
    """Files could not be fetched: the network, another content than was pinned, or the cache folder."""
