"""A brute-force oracle for one slot, written from DESIGN §4 alone. It imports nothing from taishi.

The valid axis is cut into whole-number cells. Every known instant is computed anew: cells hold lists of claims; each
claim walks over its cells in order and the rules are applied cell by cell.
"""

from __future__ import annotations

END = 10_000  # "no end": any cell up to here behaves the same, so tests look at cells 0..HORIZON only
HORIZON = 14
YEAR = 3  # cells


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
        told_then_only = held["start_unsaid"]
        recent = held["start"] - new["start"] <= YEAR
        if not (told_then_only and (new["correction"] or recent)):
            return "no"
    if held["correction"] and not new["correction"]:
        if new["start"] <= held["start"] or not held["open"]:
            return "no"
    tie = new["known"] == held["known"] and new["start"] == held["start"] and new["correction"] == held["correction"]
    if tie and new["source"] != held["source"]:
        return "beside"
    return "instead"


def cells_after(operations):
    """Cells 0..HORIZON after these claims and resolutions, in this order: lists of (claim, accord)."""
    cells = [[] for _ in range(HORIZON + 1)]
    by_number = {}
    for step in operations:
        if "resolves" in step:
            _settle(step, cells, by_number)
            continue
        by_number[step["claim"]] = step
        before = [list(c) for c in cells]
        for v in range(max(0, step["start"]), min(step["end"], HORIZON + 1)):
            verdicts = [_may_enter(step, held) for held, _ in before[v]]
            if "no" in verdicts or (step["heir"] and "instead" not in verdicts):
                continue
            cells[v] = [entry for entry, say in zip(before[v], verdicts) if say == "beside"] + [(step, 0)]
        if not step["open"]:
            _shorten(step, before, cells)
    return cells


def _quarrel(cell):
    """Do two in this cell say different things, without having been told to bear with each other?"""
    for one, mine in cell:
        for other, theirs in cell:
            if one["negates"] or other["negates"] or one["value"] == other["value"]:
                continue
            if mine != theirs or mine == 0:
                return True
    return False


def _against(one, other):
    if one["negates"] and other["negates"]:
        return False
    if one["negates"] or other["negates"]:
        return one["value"] == other["value"]
    return one["value"] != other["value"]


def _settle(step, cells, by_number):
    torn = [v for v in range(HORIZON + 1) if _quarrel(cells[v])]
    if step["winner"] is None:
        for v in torn:
            cells[v] = [(held, accord if held["negates"] else step["resolves"]) for held, accord in cells[v]]
        return
    winner = by_number.get(step["winner"])
    if winner is None:
        return
    inside = [v for v in range(HORIZON + 1) if winner["start"] <= v < winner["end"]]
    for v in [v for v in inside if v in torn] or inside:
        beaten = [held for held, _ in cells[v] if _against(winner, held)]
        if not beaten:
            continue
        cells[v] = [entry for entry in cells[v] if not any(entry[0] is b for b in beaten)]
        if not any(_same(winner, held) for held, _ in cells[v]):
            cells[v].append((winner, 0))


def _shorten(new, before, cells):
    """The same words with an end: what held the value past that end, unbroken, holds it no longer."""
    span = range(new["start"], min(new["end"], HORIZON + 1))
    for held in {id(h): h for v in span for h, _ in before[v]}.values():
        repeats = (
            _same(new, held) and held["open"] and held["start"] <= new["start"] and held["strength"] == new["strength"]
        )
        if not repeats:
            continue
        v = new["end"]
        if v > HORIZON or not _held(held, before[v - 1]):
            continue
        accord = _held(held, before[v - 1])
        while v <= HORIZON and _held(held, before[v]) == accord:
            cells[v] = [entry for entry in cells[v] if entry[0] is not held]
            v += 1


def _held(held, cell):
    """What it holds here under which accord, as a list; empty where it holds nothing."""
    return [accord for one, accord in cell if one is held]


def believed(claims, removals, resolutions=(), *, valid, known):
    """The set of (claim number, accord) believed at a point, from every operation known by `known`."""
    gone_at = {}
    for r in removals:
        for c in r["claims"]:
            gone_at[c] = min(gone_at.get(c, END), r["known"])
    live = [c for c in claims if c["known"] <= known and not gone_at.get(c["claim"], END) <= known]
    steps = [((c["known"], c["source"], c["claim"]), c) for c in live]
    steps += [((r["known"], r["resolves"], 0), r) for r in resolutions if r["known"] <= known]
    steps.sort(key=lambda s: s[0])
    return {(held["claim"], accord) for held, accord in cells_after([s for _, s in steps])[valid]}
