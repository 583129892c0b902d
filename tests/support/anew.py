"""Another extractor than the rules, as a plugin: what it reads differs on purpose.

It is read as the rules read it, but likes are passed over, every value is marked as read anew, and what was said is
noted, too.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from taishi.ingest.claims import Claim, Quote
from taishi.ingest.extractor import Extraction, Window
from taishi.ingest.rules import RulesExtractor

MARK = " (anew)"


class Anew:
    name = "anew"
    version = "3"

    def __init__(self) -> None:
        self._rules = RulesExtractor()

    def extract(self, window: Window) -> Extraction:
        read = self._rules.extract(window)
        claims = [replace(c, value=c.value + MARK) for c in read.claims if c.predicate != "likes"]
        claims += [
            Claim(
                subject="user", predicate="note", value=u.text + MARK,
                quote=Quote(event_id=u.event_id, start=0, end=len(u.text), text=u.text),
            )
            for u in window.utterances
        ]  # fmt: skip
        return Extraction(claims=claims, decisions=read.decisions)


def install(folder: Path) -> dict[str, str]:
    """Makes `folder` a place where a package brings this extractor. What a process's environment needs to find it."""
    about = folder / "anew-3.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: anew\nVersion: 3\n")
    (about / "entry_points.txt").write_text("[taishi.extractors]\nanew = tests.support.anew:Anew\n")
    root = Path(__file__).parents[2]
    return {"PYTHONPATH": os.pathsep.join([str(root), str(folder), os.environ.get("PYTHONPATH", "")])}
