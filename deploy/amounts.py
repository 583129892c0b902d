"""Amounts in words: one event, two events."""

from __future__ import annotations


def amount(number: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun, which gets an s where there is not one of it, or `plural`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
