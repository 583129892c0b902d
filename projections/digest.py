"""The content digest of a read model: equal for equal histories, however and in whatever order they were folded.

Rows are told by what they mean (event ids, claim ids, fingerprints, names) and never by positions, which an extraction
that finished sooner or later shifts, nor by what is a matter of storage (row numbers, key ids, append times of derived
events).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import apsw
import orjson

_MODULUS: Final = 1 << 256
_CLAIM_COLUMNS: Final = (
    "c.claim_id, c.event_id, c.event_type, s.fingerprint, c.value_fp, c.negates, c.valid_from, c.valid_to,"
    " c.to_inferred, c.known_from, c.strength, c.correction, c.from_inferred, c.succeeds, c.generation,"
    " c.removed_at, c.removed_why, c.expired_at, c.archived_at, c.faded_why, c.erased_at,"
    " c.subject, c.subject_key, c.predicate, c.value, c.negated, c.qualifiers, c.modality, c.text, c.speaker,"
    " c.importance, c.own_importance, c.confidence, c.occurs_from, c.occurs_to, c.grain, c.temporary, c.rule"
)
DIGESTED: Final[Mapping[str, str]] = {
    "namespaces": "SELECT name, timezone, settings, pending, failed FROM namespaces",
    "events": (
        "SELECT n.name, e.event_id, e.type, e.session, e.actor_id, e.role, e.origin, e.session_kind, e.said_at,"
        " e.recorded_at, e.extraction, e.extractor, e.decision, e.erased_at, e.archived_at, e.speaker, e.text,"
        " e.metadata"
        " FROM events e JOIN namespaces n ON n.ns = e.ns"
    ),
    "claims": (
        f"SELECT n.name, {_CLAIM_COLUMNS}, m.event_id FROM claims c JOIN namespaces n ON n.ns = c.ns"
        " JOIN slots s ON s.slot = c.slot LEFT JOIN claims m ON m.seq = c.made_from"
    ),
    "subjects": "SELECT n.name, u.subject_key, u.claims FROM subjects u JOIN namespaces n ON n.ns = u.ns",
    "beliefs": (
        "SELECT s.fingerprint, c.event_id, b.valid_from, b.valid_to, b.known_from, r.event_id"
        " FROM beliefs b JOIN slots s ON s.slot = b.slot JOIN claims c ON c.seq = b.claim"
        " LEFT JOIN resolutions r ON r.seq = b.accord"
    ),
    "history": (
        "SELECT s.fingerprint, c.event_id, h.valid_from, h.valid_to, h.known_from, h.known_to, r.event_id"
        " FROM history h JOIN slots s ON s.slot = h.slot JOIN claims c ON c.seq = h.claim"
        " LEFT JOIN resolutions r ON r.seq = h.accord"
    ),
    "chains": (
        "SELECT s.fingerprint, o.event_id, w.event_id, k.valid_from, k.valid_to, k.known_at, k.rule FROM chains k"
        " JOIN slots s ON s.slot = k.slot JOIN claims o ON o.seq = k.old_claim"
        " LEFT JOIN claims w ON w.seq = k.new_claim"
    ),
    "slots": "SELECT fingerprint, subject, rest FROM slots WHERE rest IS NOT NULL",
    "verdicts": "SELECT n.name, v.claim_a, v.claim_b, v.same FROM verdicts v JOIN namespaces n ON n.ns = v.ns",
    "identities": (
        "SELECT n.name, i.event_id, i.at, i.kind, i.name, i.other FROM identities i JOIN namespaces n ON n.ns = i.ns"
    ),
    "names": (
        "SELECT n.name, m.name_key, m.name, m.main, m.known_from, m.known_to"
        " FROM names m JOIN namespaces n ON n.ns = m.ns"
    ),
    "resolutions": (
        "SELECT s.fingerprint, r.event_id, r.at, r.winner FROM resolutions r JOIN slots s ON s.slot = r.slot"
    ),
    "standing": (
        "SELECT n.name, t.memory_id, t.confirmations, t.confirmed_at, t.helpful, t.unhelpful, t.reads, t.read_at,"
        " t.expired_at, t.archived_at, t.faded_why, t.revived_at"
        " FROM standing t JOIN namespaces n ON n.ns = t.ns"
    ),
    "uses": (
        "SELECT n.name, u.memory_id, u.at, u.confirmations, u.known_at, u.read_at, u.reads, u.helpful, u.unhelpful"
        " FROM uses u JOIN namespaces n ON n.ns = u.ns"
    ),
    "settings": "SELECT n.name, s.event_id, s.given FROM settings s JOIN namespaces n ON n.ns = s.ns",
    "dictionaries": "SELECT n.name, d.words FROM dictionaries d JOIN namespaces n ON n.ns = d.ns",
    "exposures": (
        "SELECT n.name, x.place, x.exposure, x.at, x.items FROM exposures x JOIN namespaces n ON n.ns = x.ns"
    ),
    "feedback": (
        "SELECT n.name, f.exposure, f.item, f.helpful, f.counted FROM feedback f JOIN namespaces n ON n.ns = f.ns"
    ),
    "evidence": (
        "SELECT c.event_id, e.event_id, v.start, v.stop"
        " FROM evidence v JOIN claims c ON c.seq = v.claim JOIN events e ON e.seq = v.event"
    ),
    "rulings": "SELECT n.name, r.claim_id, r.at, r.why FROM rulings r JOIN namespaces n ON n.ns = r.ns",
    "takings": (
        "SELECT n.name, t.target, c.event_id FROM takings t JOIN namespaces n ON n.ns = t.ns"
        " JOIN claims c ON c.seq = t.claim"
    ),
    "foreign_claims": (
        "SELECT n.name, f.generation, f.claim_id, f.event_id, f.subject_key"
        " FROM foreign_claims f JOIN namespaces n ON n.ns = f.ns"
    ),
    "foreign_evidence": (
        "SELECT f.event_id, e.event_id, v.start, v.stop FROM foreign_evidence v"
        " JOIN foreign_claims f ON f.seq = v.claim JOIN events e ON e.seq = v.event"
    ),
    "tombstones": (
        "SELECT n.name, t.at, t.kind, json_array_length(t.claims), json_array_length(t.events)"
        " FROM tombstones t JOIN namespaces n ON n.ns = t.ns"
    ),
    "dead_letters": "SELECT n.name, d.error, d.at, d.state FROM dead_letters d JOIN namespaces n ON n.ns = d.ns",
    "tokens": (
        "SELECT e.event_id, 'event', t.words, t.chars FROM tokens t JOIN events e ON t.doc = 2 * e.seq UNION ALL"
        " SELECT c.event_id, 'claim', t.words, t.chars FROM tokens t JOIN claims c ON t.doc = 2 * c.seq + 1"
    ),
}


def content_digest(connection: apsw.Connection) -> str:
    """SHA-256 in hex over the tables' digests. A table's is the sum of its rows' SHA-256 modulo 2^256 (an additive
    multiset hash, Bellare and Micciancio 1997): the order of rows does not matter and nothing need be sorted."""
    total = hashlib.sha256()
    for table, query in DIGESTED.items():
        rows = 0
        for row in connection.execute(query):
            rows += int.from_bytes(hashlib.sha256(orjson.dumps(row)).digest())
        total.update(f"{table}:{rows % _MODULUS:064x}\n".encode())
    return total.hexdigest()
