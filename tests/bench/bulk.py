"""Large read models in minutes: the rows that folding stated claims one after the other would leave, written in bulk.

What recall meets is there (claims, slots with what holds and what held, chains, subjects, the index of words, vectors);
ids are made up, and nothing of it stands in a log. For measuring alone.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from taishi.ingest.instants import FOREVER
from taishi.ingest.normal import normal_value
from taishi.projections.analysis import Analyzer, prefixed
from taishi.projections.schema import FOLD_VERSION, SCHEMA, document_of_claim
from taishi.projections.store import open_connection
from taishi.projections.vector_schema import vector_path
from taishi.projections.vectors import Document, VectorStore
from tests.bench.corpus import Message, messages

PART = 5_000
SECOND = 1_000_000
CLAIM = (
    "seq", "ns", "claim_id", "event_id", "event_type", "slot", "value_fp", "negates", "valid_from", "valid_to",
    "to_inferred", "known_from", "source", "recorded_at", "strength", "correction", "from_inferred", "succeeds",
    "key_id", "kept_from", "subject", "subject_key", "predicate", "value", "negated", "modality", "text",
    "importance", "own_importance", "confidence", "temporary",
)  # fmt: skip
SINGLE = ("lives_in", "works_at")

Row = tuple[Message, str, str, int]


def place(seq: int, namespaces: int, each: int) -> int:
    """Which namespace (from 0) the claim at a position is of."""
    return (seq - 1) // each if namespaces > 1 else 0


def _analysed(part: tuple[int, int]) -> list[Row]:
    """Messages and tokens of one part, by its seed."""
    seed, size = part
    analyzer, source = Analyzer(), messages(1_000 + seed)
    found = []
    for _ in range(size):
        m = next(source)
        tokens = analyzer.index(m.text)
        found.append((m, tokens.words, tokens.chars, tokens.length))
    return found


def _parts(total: int) -> list[tuple[int, int]]:
    return [(n, min(PART, total - at)) for n, at in enumerate(range(0, total, PART))]


def said(total: int, wanted: Sequence[int]) -> dict[int, Message]:
    """The messages at some positions (from 1), made again."""
    by_part: dict[int, list[int]] = {}
    for seq in wanted:
        by_part.setdefault((seq - 1) // PART, []).append(seq)
    found = {}
    for seed, seqs in by_part.items():
        source = messages(1_000 + seed)
        made = [next(source) for _ in range(max((seq - 1) % PART for seq in seqs) + 1)]
        found |= {seq: made[(seq - 1) % PART] for seq in seqs}
    return found


def write_claims(path: Path, namespaces: int, each: int, *, processes: int = 2) -> None:
    db = open_connection(path)
    for pragma in ("page_size = 8192", "journal_mode = OFF", "synchronous = OFF", "cache_size = -262144"):
        db.execute(f"PRAGMA {pragma}")
    later = [line for line in SCHEMA.splitlines() if line.startswith("CREATE INDEX") and " ON claims " in line]
    db.execute("\n".join(line for line in SCHEMA.splitlines() if line not in later))
    total = namespaces * each
    slots: dict[tuple[int, str, str], list[int]] = {}
    subjects: Counter[tuple[int, str]] = Counter()
    numbers: list[int] = []
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        seq = 0
        for rows in pool.imap(_analysed, _parts(total)):
            with db:
                seq = _write(db, rows, seq, slots, subjects, numbers, namespaces, each)
    settings = orjson.dumps(Analyzer().settings(), option=orjson.OPT_SORT_KEYS).decode()
    with db:
        db.executemany("INSERT INTO namespaces (ns, name) VALUES (?, ?)", [(s, f"n{n}") for n, s in enumerate(numbers)])
        named = sorted((*key, n, 0, 0) for key, n in subjects.items())  # known from the first on
        db.executemany("INSERT INTO subjects VALUES (?, ?, ?, ?, ?)", named)
        db.execute(
            "INSERT INTO checkpoint (one, seq, generation, chain, digest, fold_version, settings)"
            " VALUES (1, ?, 0, x'', x'', ?, ?)",
            (total, FOLD_VERSION, settings),
        )
        for line in later:
            db.execute(line.partition("--")[0])
        db.execute("INSERT INTO fulltext (fulltext) VALUES ('optimize')")
    db.close()


def _write(
    db: Any, rows: Sequence[Row], seq: int, slots: dict[tuple[int, str, str], list[int]],
    subjects: Counter[tuple[int, str]], numbers: list[int], namespaces: int, each: int,
) -> int:  # fmt: skip
    out: dict[str, list[tuple[Any, ...]]] = {name: [] for name in _INSERTS}
    for m, words, chars, length in rows:
        seq += 1
        at = seq * SECOND
        if place(seq, namespaces, each) == len(numbers):
            numbers.append(seq)
        ns = numbers[-1]
        key, value = normal_value(m.subject), normal_value(m.value)
        single = m.predicate in SINGLE
        about = (ns, key, m.predicate if single else f"{m.predicate} {value}")
        held = slots.get(about)
        if held is None:
            held = slots[about] = [len(slots) + 1, 0, 0]
            out["slots"].append((held[0], ns, f"f{held[0]}", at, seq, seq, key, about[2]))
        slot, last, since = held
        if last:
            out["gone"].append((slot, FOREVER, since, last))
            out["history"].append((slot, last, since, FOREVER, since, at, 0))
            if single or m.negated:
                out["beliefs"].append((last, slot, since, at, at, 0))
            out["chains"].append((slot, at, last, seq, at, FOREVER, "began_later"))
        out["beliefs"].append((seq, slot, at, FOREVER, at, 0))
        held[1], held[2] = seq, at
        subjects[ns, key] += 1
        out["claims"].append((
            seq, ns, f"{seq:032x}", f"e{seq}", "claim.asserted", slot, value if single else str(m.negated),
            int(m.negated), at, FOREVER, 1, at, seq, at, 40, 0, 1, 0, seq, at, m.subject, key, m.predicate, m.value,
            int(m.negated), "fact", m.text, 0.5, 0.5, 0.9, 0,
        ))  # fmt: skip
        doc = document_of_claim(seq)
        out["tokens"].append((doc, ns, length, words, chars))
        out["fulltext"].append((doc, prefixed(words, ns), prefixed(chars, ns)))
    for name, sql in _INSERTS.items():
        db.executemany(sql, out[name])
    return seq


_INSERTS = {
    "slots": "INSERT INTO slots VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "claims": f"INSERT INTO claims ({', '.join(CLAIM)}) VALUES ({', '.join('?' * len(CLAIM))})",
    "beliefs": "INSERT INTO beliefs (claim, slot, valid_from, valid_to, known_from, accord) VALUES (?, ?, ?, ?, ?, ?)",
    "gone": "DELETE FROM beliefs WHERE slot = ? AND valid_to = ? AND valid_from = ? AND claim = ?",
    "history": "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?)",
    "chains": "INSERT INTO chains VALUES (?, ?, ?, ?, ?, ?, ?)",
    "tokens": "INSERT INTO tokens VALUES (?, ?, ?, ?, ?)",
    "fulltext": "INSERT INTO fulltext (rowid, words, chars) VALUES (?, ?, ?)",
}


def write_vectors(folder: Path, model: str, dimension: int, namespaces: int, each: int) -> None:
    """One made-up vector a claim: their directions vary in 500 topics."""
    store = VectorStore(vector_path(folder, 0, model), model=model, dimension=dimension)
    store._connection.execute("PRAGMA synchronous = OFF")
    rng = np.random.default_rng(1)
    topics = rng.standard_normal((500, dimension), dtype=np.float32)
    total, number = namespaces * each, 0
    for start in range(0, total, 2_000):
        seqs = range(start + 1, min(start + 2_000, total) + 1)
        rows = topics[rng.integers(0, len(topics), len(seqs))]
        rows = rows + rng.standard_normal(rows.shape, dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        documents = []
        for n, seq in enumerate(seqs):
            if not number or place(seq, namespaces, each) != place(seq - 1, namespaces, each):
                number = store.namespace(f"n{place(seq, namespaces, each)}", seq)
            key = seq.to_bytes(16, "big")
            documents.append(
                Document(doc=document_of_claim(seq), ns=number, keys=[key], vectors=rows[n : n + 1])
            )
        store.add(documents, after=start, seq=seqs[-1], digest=b"")
    store.close()


def write(folder: Path, model: str, dimension: int, namespaces: int, each: int) -> None:
    """A generation and its vectors, side by side."""
    generation = folder / "models" / "g1"
    generation.mkdir(parents=True)
    (folder / "vectors").mkdir()
    vectors = multiprocessing.get_context("fork").Process(
        target=write_vectors, args=(folder / "vectors", model, dimension, namespaces, each)
    )
    vectors.start()
    write_claims(generation / "claims-p0.db", namespaces, each)
    vectors.join()
    (folder / "models" / "current").write_text("g1\n")


def asked(namespaces: int, each: int, count: int, rng: Any) -> Iterator[tuple[str, Message]]:
    """Namespaces and messages that were said in them, to ask about."""
    wanted = [rng.randint(1, namespaces * each) for _ in range(count)]
    found = said(namespaces * each, wanted)
    for seq in wanted:
        yield f"n{place(seq, namespaces, each)}", found[seq]
