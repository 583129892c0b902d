"""The read model of one partition as the folds see it: a connection inside a transaction, and the index of words.

Everything here is a function of the events folded so far; nothing asks a clock, a network or chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import apsw
import orjson

from taishi.ingest.envelope import Event

from .analysis import Analyzer, prefixed
from .beliefs import Closed, Link, Rectangle, Statement, admit
from .dedup import most_protected, rest_of
from .slot_history import UNREAD, Removal, Resolution, replay

_STATEMENT_COLUMNS: Final = (
    "seq, value_fp, negates, valid_from, valid_to, to_inferred, known_from, strength, correction, source,"
    " from_inferred, succeeds"
)
_OVERLAPPING: Final = """
SELECT b.claim, b.valid_from, b.valid_to, b.known_from, b.accord,
       c.seq, c.value_fp, c.negates, c.valid_from, c.valid_to, c.to_inferred, c.known_from,
       c.strength, c.correction, c.source, c.from_inferred, c.succeeds
FROM beliefs b JOIN claims c ON c.seq = b.claim
WHERE b.slot = ? AND b.valid_to > ? AND b.valid_from < ?
"""


_BEFORE_ALL: Final = (-(2**62), 0, 0)
_STATEMENT_WIDTH: Final = len(Statement._fields)


def statement(row: Sequence[Any]) -> Statement:
    """From the columns of a claim's row, in the order of `Statement`'s fields."""
    seq, value, negates, start, end, inferred, known, strength, correction, source, from_inferred, succeeds = row
    return Statement(
        seq, value, bool(negates), start, end, bool(inferred), known, strength, bool(correction), source,
        bool(from_inferred), bool(succeeds),
    )  # fmt: skip


class Slot(NamedTuple):
    """`last` is the order of the last operation folded in order; of a slot that was just made it is before all."""

    number: int
    last: tuple[int, int, int]

    @property
    def is_new(self) -> bool:
        return self.last == _BEFORE_ALL


class Model:
    """Write access to one partition's read model. One thread, one transaction at a time.

    `generation` is the extraction generation that is folded. Namespace numbers are cached: `forget_cache` is called
    when a transaction was rolled back.
    """

    def __init__(self, connection: apsw.Connection, analyzer: Analyzer, *, generation: int = 1) -> None:
        self.connection: Final = connection
        self.generation: Final = generation
        self.execute: Final = connection.execute
        self._analyzer: Final = analyzer
        self._namespaces: dict[str, int] = {}
        self._analyzers: dict[int, Analyzer] = {}

    def rows(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self.execute(sql, values).fetchall()

    def forget_cache(self) -> None:
        self._namespaces.clear()
        self._analyzers.clear()

    # namespaces

    def namespace(self, event: Event) -> int:
        """The number of the event's namespace: the position of the first event folded for it."""
        known = self._namespaces.get(event.namespace)
        if known is None:
            self.execute(
                "INSERT INTO namespaces (ns, name) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
                (event.position.seq, event.namespace),
            )
            known = self.execute("SELECT ns FROM namespaces WHERE name = ?", (event.namespace,)).get
            self._namespaces[event.namespace] = known
        return known

    # full text

    def dictionary(self, ns: int) -> list[str]:
        """The namespace's own words."""
        row = self.execute("SELECT words FROM dictionaries WHERE ns = ?", (ns,)).fetchone()
        words: list[str] = [] if row is None else orjson.loads(row[0])
        return words

    def forget_analyzer(self, ns: int) -> None:
        """The namespace's dictionary changed."""
        self._analyzers.pop(ns, None)

    def index(self, doc: int, ns: int, text: str) -> None:
        analyzer = self._analyzers.get(ns)
        if analyzer is None:
            analyzer = self._analyzers[ns] = self._analyzer.with_words(self.dictionary(ns))
        found = analyzer.index(text)
        self.execute(
            "INSERT INTO tokens (doc, ns, length, words, chars) VALUES (?, ?, ?, ?, ?)",
            (doc, ns, found.length, found.words, found.chars),
        )
        self.execute(
            "INSERT INTO fulltext (rowid, words, chars) VALUES (?, ?, ?)",
            (doc, prefixed(found.words, ns), prefixed(found.chars, ns)),
        )

    def unindex(self, doc: int, ns: int) -> None:
        """Takes a document out of the index, whose pages are overwritten (`secure-delete`)."""
        row = self.execute("SELECT words, chars FROM tokens WHERE doc = ?", (doc,)).fetchone()
        if row is None:
            return
        self.execute(
            "INSERT INTO fulltext (fulltext, rowid, words, chars) VALUES ('delete', ?, ?, ?)",
            (doc, prefixed(row[0], ns), prefixed(row[1], ns)),
        )
        self.execute("DELETE FROM tokens WHERE doc = ?", (doc,))

    def unindex_many(self) -> None:
        """From here on documents are taken out of the index the quick way, which leaves their words in its pages until
        it is merged: whoever scrubs the file does that (`ReadModelFile.scrub`)."""
        self.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', 0)")

    # slots

    def slot(self, ns: int, fingerprint: str, about: tuple[str, str] | None = None) -> Slot:
        """`about` is the joint key of a claim in it (`dedup.joint_key`), where its words are known."""
        subject, rest = (None, None) if about is None else about
        row = self.execute(
            "SELECT slot, rest, last_known, last_source, last_seq FROM slots WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        if row is None:
            self.execute(
                "INSERT INTO slots (ns, fingerprint, last_known, last_source, last_seq, subject, rest)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (ns, fingerprint, *_BEFORE_ALL, subject, rest),
            )
            return Slot(self.connection.last_insert_rowid(), _BEFORE_ALL)
        if rest is not None and rest != row[1] and most_protected(row[1], rest) == rest:
            self.execute("UPDATE slots SET subject = ?, rest = ? WHERE slot = ?", (subject, rest, row[0]))
        return Slot(row[0], row[2:])

    def erase_words(self, slot: int) -> None:
        """What the slot is about in words, by those of its claims that have words still."""
        rest = self.execute("SELECT rest FROM slots WHERE slot = ?", (slot,)).get
        if rest is not None:
            values = self.rows("SELECT DISTINCT value FROM claims WHERE slot = ? AND value IS NOT NULL", (slot,))
            kept = rest_of(rest, [row[0] for row in values])
            self.execute("UPDATE slots SET rest = ? WHERE slot = ?", (kept, slot))
            self.execute("UPDATE slots SET subject = NULL WHERE slot = ? AND rest IS NULL", (slot,))

    def admit(self, into: Slot, new: Statement) -> bool:
        """Folds a statement whose claim row is written. In order, it cuts only what it overlaps; else the slot is
        replayed. Whether it came in order."""
        slot = into.number
        if new.order <= into.last:
            self._arrive_late(slot, new)
            return False
        statements = {new.claim: new}
        overlapping = []
        held = () if into.is_new else self.execute(_OVERLAPPING, (slot, new.start, new.end))
        for row in held:
            overlapping.append(Rectangle(*row[:5]))
            statements[row[0]] = statement(row[5:])
        change = admit(new, overlapping, statements)
        for r in change.shut:
            self.execute(
                "DELETE FROM beliefs WHERE slot = ? AND valid_to = ? AND valid_from = ? AND claim = ?",
                (slot, r.end, r.start, r.claim),
            )
        self._insert(
            slot, change.opened, [Closed(*r, until=new.known) for r in change.shut if r.known < new.known], change.links
        )
        self._set_last(slot, new.order)
        return True

    def _set_last(self, slot: int, order: tuple[int, int, int]) -> None:
        self.execute("UPDATE slots SET last_known = ?, last_source = ?, last_seq = ? WHERE slot = ?", (*order, slot))

    def _arrive_late(self, slot: int, new: Statement) -> None:
        """A verdict that the value was never true holds for all that had said so, read by then or not."""
        verdicts = self.rows(
            "SELECT removed_at, removed_seq FROM claims WHERE slot = ? AND value_fp = ? AND negates = ?"
            " AND removed_why = 'wrong' ORDER BY removed_at, removed_seq",
            (slot, new.value, new.negates),
        )
        verdict = next((v for v in verdicts if (*v, 0) > new.order), None)
        if verdict is not None:
            self.execute(
                "UPDATE claims SET removed_at = ?, removed_why = 'wrong', removed_seq = ?"
                " WHERE seq = ? AND removed_at IS NULL",
                (*verdict, new.claim),
            )
        self.replay(slot)

    def replay(self, slot: int) -> None:
        """Folds the slot anew from its claims: for late arrivals and removals."""
        statements: list[Statement] = []
        removals: dict[tuple[int, int, str], set[int]] = {}
        for row in self.execute(
            f"SELECT {_STATEMENT_COLUMNS}, removed_at, removed_why, removed_seq FROM claims WHERE slot = ?", (slot,)
        ):
            statements.append(statement(row[:_STATEMENT_WIDTH]))
            removed_at, why, removed_seq = row[_STATEMENT_WIDTH:]
            if removed_at is not None:
                removals.setdefault((removed_at, removed_seq, why), set()).add(row[0])
        seqs = {s.claim for s in statements}
        operations = [
            Removal(frozenset(claims), why, known, seq, successor=seq if seq in seqs else None)  # type: ignore[arg-type]
            for (known, seq, why), claims in removals.items()
        ]
        settled = self.resolutions(slot)
        history = replay(statements, operations, settled)
        for table in ("beliefs", "history", "chains"):
            self.execute(f"DELETE FROM {table} WHERE slot = ?", (slot,))
        self._insert(slot, history.open, history.closed, history.links)
        orders = [*(s.order for s in statements), *(r.order for r in operations), *(r.order for r in settled)]
        self._set_last(slot, max(orders))

    def resolutions(self, slot: int) -> list[Resolution]:
        """Words that settled a conflict of the slot. A winner that is read later binds when it is."""
        found = self.rows("SELECT seq, at, winner FROM resolutions WHERE slot = ?", (slot,))
        earliest = "SELECT seq FROM claims WHERE claim_id = ? AND slot = ? ORDER BY seq LIMIT 1"
        settled = []
        for seq, at, winner in found:
            row = None if winner is None else self.execute(earliest, (winner, slot)).fetchone()
            settled.append(Resolution(None if winner is None else UNREAD if row is None else row[0], at, seq))
        return settled

    def _insert(self, slot: int, opened: Sequence[Rectangle], closed: Sequence[Closed], links: Sequence[Link]) -> None:
        for r in opened:
            self.execute(
                "INSERT INTO beliefs (slot, claim, valid_from, valid_to, known_from, accord) VALUES (?, ?, ?, ?, ?, ?)",
                (slot, *r),
            )
        for c in closed:
            self.execute(
                "INSERT INTO history (slot, claim, valid_from, valid_to, known_from, accord, known_to)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (slot, *c),
            )
        for k in links:
            self.execute(
                "INSERT INTO chains (slot, old_claim, new_claim, valid_from, valid_to, known_at, rule)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (slot, *k),
            )
