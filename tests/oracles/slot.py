"""A brute-force oracle for one slot, written from DESIGN §4 alone. It imports nothing from taishi.

The valid axis is cut into whole-number cells. Every known instant is computed anew: cells hold lists of claims; each
claim walks over its cells in order and the rules are applied cell by cell.
"""

from __future__ import annotations

END = 10_000  # "no end": any cell up to here behaves the same, so tests look at cells 0..HORIZON only
HORIZON = 14


def _same(a, b):
    return a["value"] == b["value"] and a["negates"] == b["negates"]


def _may_enter(new, held):
    """'no', 'beside' or 'instead'."""
    if _same(new, held):
        if new["strength"] > held["strength"]:
            return "instead"
        both = new["strength"] == held["strength"]
        return "instead" if both and new["correction"] and not held["correction"] else "no"
    if new["negates"] and new["value"] != held["value"]:
        return "beside" if held["negates"] else "no"
    if new["strength"] < held["strength"]:
        return "beside" if held["negates"] and new["value"] != held["value"] else "no"
    if new["strength"] > held["strength"]:
        return "instead"
    if new["open"] and held["start"] > new["start"]:
        return "no"
    if held["correction"] and not new["correction"]:
        if new["start"] <= held["start"] or not held["open"]:
            return "no"
    tie = new["known"] == held["known"] and new["start"] == held["start"] and new["correction"] == held["correction"]
    if tie and new["source"] != held["source"]:
        return "beside"
    return "instead"


def cells_after(claims):
    """Cells 0..HORIZON after these claims, in this order."""
    cells = [[] for _ in range(HORIZON + 1)]
    for new in claims:
        before = [list(c) for c in cells]
        for v in range(max(0, new["start"]), min(new["end"], HORIZON + 1)):
            verdicts = [_may_enter(new, held) for held in before[v]]
            if "no" in verdicts:
                continue
            cells[v] = [held for held, say in zip(before[v], verdicts) if say == "beside"] + [new]
        if not new["open"]:
            _shorten(new, before, cells)
    return cells


def _shorten(new, before, cells):
    """The same words with an end: what held the value past that end, unbroken, holds it no longer."""
    for held in {id(h): h for v in range(new["start"], min(new["end"], HORIZON + 1)) for h in before[v]}.values():
        repeats = (
            _same(new, held) and held["open"] and held["start"] <= new["start"] and held["strength"] == new["strength"]
        )
        if not repeats:
            continue
        v = new["end"]
        if v > HORIZON or held not in before[v - 1]:
            continue
        while v <= HORIZON and held in before[v]:
            cells[v] = [h for h in cells[v] if h is not held]
            v += 1


def believed(claims, removals, *, valid, known):
    """The set of claim numbers believed at a point, from every operation known by `known`."""
    gone_at = {}
    for r in removals:
        for c in r["claims"]:
            gone_at[c] = min(gone_at.get(c, END), r["known"])
    live = [c for c in claims if c["known"] <= known and not gone_at.get(c["claim"], END) <= known]
    live.sort(key=lambda c: (c["known"], c["source"], c["claim"]))
    return {c["claim"] for c in cells_after(live)[valid]}
