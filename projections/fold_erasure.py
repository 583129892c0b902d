"""What forgetting does to the read model: words go, from rows and from the index; ids, intervals and counts stay.

The ids in exposures stay as well, so that it can be told what was shown when: an id holds no word.
"""

from __future__ import annotations

from typing import Final

import orjson

from taishi.ingest.envelope import Event

from . import uses
from .fold_claims import CLAIM_CONTENT, one_claim_less
from .fold_entities import erase_identities
from .fold_late import erase_raw, forbid, owe, unlisted
from .fold_settings import erase_settings
from .model import Model
from .schema import document_of_claim
from .weights import weigh_slot

MANY: Final = 100
"""Documents of one tombstone from which on merging the index costs less than overwriting their words in it."""
_ERASED_WITH_IT: Final = ", ".join(f"{name} = NULL" for name in (*CLAIM_CONTENT, "importance"))
_ERASE_CLAIM: Final = f"UPDATE claims SET {_ERASED_WITH_IT}, erased_at = ? WHERE seq = ?"


def forgotten(model: Model, event: Event, ns: int) -> None:
    facts, at = event.facts, event.recorded_at
    claims = [seq for _, seq in facts["claims"]]
    erased = [seq for _, seq in facts["events"]]
    slots: set[int] = set()
    touched: set[int] = set()
    if len(claims) + len(erased) > MANY:
        model.unindex_many()
    forbid(model, event, ns)
    late = unlisted(model, event, ns)
    withdrawn = list(erased)
    for seq in late:
        owe(model, ns, seq, event.position.seq)
        withdrawn += [row[0] for row in model.rows("SELECT event FROM evidence WHERE claim = ?", (seq,))]
    for seq in (*claims, *late):
        row = model.execute("SELECT slot, removed_at FROM claims WHERE seq = ? AND ns = ?", (seq, ns)).fetchone()
        if row is None:
            continue
        _erase_claim(model, ns, seq, at)
        model.erase_words(row[0])
        touched.add(row[0])
        if row[1] is None:
            model.execute(
                "UPDATE claims SET removed_at = ?, removed_why = 'forgotten', removed_seq = ? WHERE seq = ?",
                (at, event.position.seq, seq),
            )
            slots.add(row[0])
    for seq in withdrawn:
        erase_raw(model, ns, seq, at)
    erase_identities(model, ns, erased)
    erase_settings(model, ns, erased)
    for seq in claims:
        model.execute("DELETE FROM owed WHERE claim = ? AND ns = ?", (seq, ns))
    for seq in erased:
        model.execute("DELETE FROM remarks WHERE seq = ? AND ns = ?", (seq, ns))
        model.execute("UPDATE dead_letters SET state = 'retry' WHERE seq = ? AND ns = ?", (seq, ns))
    for memory_id, _ in (*facts["claims"], *facts["events"]):
        uses.erase(model, ns, memory_id)
    model.execute(
        "INSERT INTO tombstones (seq, ns, at, kind, claims, events) VALUES (?, ?, ?, ?, ?, ?)",
        (event.position.seq, ns, at, facts["kind"], orjson.dumps(claims).decode(), orjson.dumps(erased).decode()),
    )
    for slot in sorted(slots):
        model.replay(slot)
    for slot in sorted(touched):
        weigh_slot(model, ns, slot)


def _erase_claim(model: Model, ns: int, seq: int, at: int) -> None:
    subject, erased = model.execute("SELECT subject_key, erased_at FROM claims WHERE seq = ?", (seq,)).get
    if erased is not None:
        return
    model.unindex(document_of_claim(seq), ns)
    if subject is not None:
        one_claim_less(model, ns, subject)
    model.execute(_ERASE_CLAIM, (at, seq))
    model.execute("UPDATE evidence SET start = NULL, stop = NULL WHERE claim = ?", (seq,))
