"""Labelled sentences for the rules extractor, and how a reading is held against them.

`unit/data/rules_<lang>.jsonl`: text and claims as [subject, predicate, value, polarity]; a value that begins with `~`
must be contained, any other be equal once normalised. `half` is `dev` (rules were written against it), `held` (put
aside before), `fresh` (written after the rules, before any of them was read) or `aside` (written before the rows of
`everyday_<lang>.toml`, scored once after them). `late_<lang>.jsonl`: written after the rows about systems, before any
of them was read. `kinds_<lang>.jsonl`: sentences of one kind each, ten and more a kind.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from taishi.ingest.claims import Claim
from taishi.ingest.extractor import Extraction, Utterance, Window
from taishi.ingest.normal import normal_value
from taishi.ingest.rules import RulesExtractor

DATA = Path(__file__).parents[1] / "unit" / "data"
SHANGHAI = timezone(timedelta(hours=8))
SAID_AT = datetime(2026, 8, 1, 9, tzinfo=SHANGHAI)
EXTRACTOR = RulesExtractor()


def said(text: str, **more: object) -> Utterance:
    return Utterance(event_id="e1", text=text, **{"said_at": SAID_AT, **more})  # type: ignore[arg-type]


def extract(*utterances: Utterance, context: Sequence[Utterance] = ()) -> Extraction:
    return EXTRACTOR.extract(
        Window(namespace="n", session="s", utterances=utterances, context=context, zone=UTC)
    )


def claims(text: str, **more: object) -> list[Claim]:
    """What is read of one text; every quote is checked to be the source's own words."""
    found = list(extract(said(text, **more)).claims)
    for claim in found:
        assert claim.quote is not None
        assert claim.quote.text == text[claim.quote.start : claim.quote.end] != ""
    return found


def short(claim: Claim) -> tuple[str, str, str, str]:
    return claim.subject, claim.predicate, claim.value, "-" if claim.negated else "+"


def read(text: str, **more: object) -> set[tuple[str, str, str, str]]:
    return {short(claim) for claim in claims(text, **more)}


def lines(name: str, half: str) -> list[dict[str, object]]:
    rows = map(json.loads, (DATA / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [row for row in rows if row["half"] == half]


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)


def _fits(want: Sequence[str], claim: Claim) -> bool:
    subject, predicate, value, polarity = want
    if (subject, predicate, polarity) != (claim.subject, claim.predicate, "-" if claim.negated else "+"):
        return False
    return (
        value[1:] in claim.value
        if value.startswith("~")
        else normal_value(value) == normal_value(claim.value)
    )


def score(name: str, half: str) -> tuple[Score, list[str]]:
    """Counts over a half, and each line that was not read as labelled."""
    total, odd = Score(), []
    for row in lines(name, half):
        text, wanted = str(row["text"]), list(row["claims"])  # type: ignore[call-overload]
        extra = []
        for claim in claims(text):
            want = next((want for want in wanted if _fits(want, claim)), None)
            if want is None:
                extra.append(short(claim))
            else:
                wanted.remove(want)
                total.right += 1
        total.wrong += len(extra)
        total.missed += len(wanted)
        if extra or wanted:
            odd.append(f"{text}: missed {wanted}, extra {extra}")
    return total, odd
