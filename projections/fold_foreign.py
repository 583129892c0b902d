"""What the read model keeps of claims that another extraction generation read: where they stand and what they rest on.

They are in no slot and no index; but whoever forgets words here forgets what any generation made of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from taishi.ingest.envelope import Event
from taishi.ingest.normal import normal_value

from .fold_claims import evidence_of, span_in
from .model import Model


def noted(model: Model, event: Event, ns: int) -> None:
    """Folds an event of another generation. One whose words are gone is not kept: nothing is left to forget."""
    if event.type != "claim.extracted" or not event.body:
        return
    seq = event.position.seq
    model.execute(
        "INSERT INTO foreign_claims (seq, ns, generation, claim_id, event_id, key_id, subject_key)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            seq, ns, event.generation, event.facts["claim"]["claim_id"], event.event_id, event.key_id,
            normal_value(event.body["subject"]),
        ),
    )  # fmt: skip
    for raw in evidence_of(model, event, ns):
        model.execute(
            "INSERT INTO foreign_evidence (claim, event, start, stop) VALUES (?, ?, ?, ?)",
            (seq, raw.seq, *span_in(event, raw.event_id)),
        )


def drop_foreign(model: Model, seqs: Iterable[int]) -> None:
    """Forgets the claims at these positions, where they are of other generations."""
    for seq in seqs:
        model.execute("DELETE FROM foreign_evidence WHERE claim = ?", (seq,))
        model.execute("DELETE FROM foreign_claims WHERE seq = ?", (seq,))
