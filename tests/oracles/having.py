"""What someone has, by hand: told in order, a parting takes what goes by its words. It imports nothing from taishi.

`NAMES` says by which words each thing is spoken of, besides its own.
"""

from __future__ import annotations

NAMES = {
    "red Skoda Octavia": {"Skoda", "Octavia", "Skoda Octavia"},
    "Skoda Fabia": {"Skoda", "Fabia"},
    "Kia Niro": {"Kia", "Niro"},
    "upright piano": {"piano"},
    "grand piano from Vienna": {"piano", "grand piano"},
    "piano": set(),
    "雅马哈的电子琴": {"电子琴", "子琴"},
}
PARTINGS = [
    "Skoda", "Octavia", "Fabia", "Kia", "piano", "grand piano", "Kia Niro", "upright piano",
    "upright", "Vienna", "电子琴", "琴",
]


def still_had(told):
    """The things had after `told`: pairs of (has, words) in the order in which they were said."""
    had = set()
    for has, words in told:
        if has:
            had.add(words)
            continue
        had.discard(words)
        meant = [thing for thing in had if words in NAMES[thing]]
        if len(meant) == 1:
            had.discard(meant[0])
    return had
