"""The channels of recall: full text, vectors, and the slots of whom and what the question names.

Each gives document ids with a score of its own; `gather` joins them. A channel that is down is named in `degraded` and
the others answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from taishi.ingest.errors import TaishiError
from taishi.projections.analysis import QueryTerms
from taishi.projections.embedding import Vectors
from taishi.projections.schema import document_of_claim

from .candidates import Lexical, search
from .corpus import ALL, Corpora
from .fusion import dense_lift
from .horizon import Horizon
from .reading import ReadModel
from .understand import Question

DENSE_HITS: Final = 100
TURN: Final = 0.4
END: Final = 0.2
"""Of a dialogue's nearness, what its nearest turn counts, and its end; the rest is the whole's. Dev halves, dialogues:
R@5 .66 and .69 (zh, en) by the whole alone, .67 and .73 with half of the nearest turn, .69 and .73 with both."""
STANDING: Final = "prefers.answer_style"
"""The predicate of what is always to be done when something is asked."""
STANDING_CLAIMS: Final = 20
"""Newest of them that are held against the question."""
STANDING_HITS: Final = 3
LEAST_LIFT: Final = -0.2
"""Lift from which on such a wish may be about what is asked: its topic is named in one word ("deadlines"). Dev halves,
beam R@10: .699 without any, .709 with the two that are no farther than the background, .715 with three and these."""
SLOT_CLAIMS: Final = 40
"""Newest claims of each asked subject and predicate."""


@dataclass(frozen=True, slots=True)
class DenseHits:
    """Nearest documents, best first, with cosine similarities; `mean` and `deviation` of the namespace's background.
    `calibrated`: the model is one whose similarities `answerability` knows how to read."""

    hits: Sequence[tuple[int, float]]
    mean: float
    deviation: float
    calibrated: bool = False


class DenseChannel(Protocol):
    """Vectors of one deployment. `search` returns None while they are warming up."""

    def embed(self, text: str) -> Vectors:
        """One unit vector. Raises Unavailable where the embedder is down."""
        ...

    def embed_parts(self, texts: tuple[str, ...]) -> Sequence[Vectors]:
        """A unit vector of each, at once. Raises Unavailable where the embedder is down."""
        ...

    def search(
        self,
        partition: int,
        ns: int,
        vector: Vectors,
        k: int,
        *,
        last: int | None = None,
        among: Sequence[int] | None = None,
    ) -> DenseHits | None:
        """`last`: as if there were no documents of greater numbers. `among`: as if there were no others."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """What the channels say. `dense` are lifts over the background in 0..1; `nearest` is the greatest similarity of
    any document, None where it says nothing by itself. `standing`: what is always to be done when such a thing is
    asked, the nearest first."""

    lexical: Lexical
    dense: Mapping[int, float] = field(default_factory=dict)
    slots: frozenset[int] = frozenset()
    degraded: tuple[str, ...] = ()
    nearest: float | None = None
    standing: tuple[int, ...] = ()

    @property
    def documents(self) -> set[int]:
        return {*self.lexical.matches, *self.dense, *self.slots}

    def without(self, ablated: Collection[str]) -> Found:
        """As if those channels had found nothing. What the question's words weigh stays known."""
        return Found(
            replace(self.lexical, matches={}) if "lexical" in ablated else self.lexical,
            {} if "dense" in ablated else self.dense,
            frozenset() if "slot" in ablated else self.slots,
            self.degraded,
            None if "dense" in ablated else self.nearest,
            () if "standing" in ablated else self.standing,
        )


def gather(
    model: ReadModel,
    ns: int,
    *,
    terms: QueryTerms,
    question: Question,
    names: Sequence[str],
    vector: Vectors | None,
    parts: Sequence[Vectors] = (),
    dense: DenseChannel | None,
    corpora: Corpora,
    horizon: Horizon | None = None,
) -> Found:
    """`vector` is the question's, None where it could not be had, `parts` those of a dialogue's (`passages.parts_of`).
    Nothing beyond `horizon` is found."""
    degraded: list[str] = []
    lifts: dict[int, float] = {}
    nearest: float | None = None
    last = None if horizon is None else horizon.last
    if dense is not None and vector is not None:
        try:
            near = _near(dense, model, ns, vector, last=last)
            beside = [hits for part in parts if (hits := _near(dense, model, ns, part, last=last)) is not None]
        except TaishiError:
            near = None
        if near is None:
            degraded.append("vectors")
        else:
            if near.calibrated and near.hits:
                nearest = near.hits[0][1]
            lifts = _lifts(near)
            if beside:
                lifts = with_parts(lifts, [_lifts(hits) for hits in beside])
    slots = _slot_documents(model, ns, question, names, ALL if horizon is None else horizon.last // 2)
    standing: tuple[int, ...] = ()
    if dense is not None and vector is not None and lifts and question.fence_words and not question.recounts:
        standing = _standing(dense, model, ns, vector, question.subject, lifts, last=last)
    lexical = search(model, ns, terms, corpora, also=(*lifts, *slots), horizon=horizon)
    return Found(lexical, lifts, frozenset(slots), tuple(degraded), nearest, standing)


def _standing(
    dense: DenseChannel,
    model: ReadModel,
    ns: int,
    vector: Vectors,
    subject: str,
    lifts: dict[int, float],
    *,
    last: int | None,
) -> tuple[int, ...]:
    """Of the wishes that the asker has for answers to come, those that are nearest to the question; their lifts are put
    beside the others. What is always to be done when something is asked has few words of the question, and is seldom
    among what is nearest in meaning."""
    rows = model.rows(_SLOT_CLAIMS, ns, subject, STANDING, ALL if last is None else last // 2, STANDING_CLAIMS)
    documents = [document_of_claim(row[0]) for row in rows]
    if not documents:
        return ()
    try:
        near = dense.search(model.partition, ns, vector, STANDING_HITS, last=last, among=documents)
    except TaishiError:
        return ()
    if near is None:
        return ()
    lift = {doc: dense_lift(cosine, mean=near.mean, deviation=near.deviation) for doc, cosine in near.hits}
    found = {doc: value for doc, value in lift.items() if value >= LEAST_LIFT}
    lifts |= found
    return tuple(found)


def _lifts(near: DenseHits) -> dict[int, float]:
    return {doc: dense_lift(cosine, mean=near.mean, deviation=near.deviation) for doc, cosine in near.hits}


def with_parts(whole: Mapping[int, float], parts: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Lifts of a dialogue by the `whole` and by its parts, the last of which is its end. What is not among the hits of
    one is taken to be as near to it as the last of them."""
    every = [(lifts, min(lifts.values(), default=0.0)) for lifts in (whole, *parts)]
    found: dict[int, float] = {}
    for doc in {doc for lifts, _ in every for doc in lifts}:
        own, *turns, end = (lifts.get(doc, least) for lifts, least in every)
        found[doc] = (1 - TURN - END) * own + TURN * max(turns, default=own) + END * end
    return found


def _near(dense: DenseChannel, model: ReadModel, ns: int, vector: Vectors, *, last: int | None) -> DenseHits | None:
    """The nearest documents. The vectors of all generations lie in one file: claims of others are passed over."""
    if model.one("SELECT 1 FROM foreign_claims WHERE ns = ? LIMIT 1", ns) is None:
        return dense.search(model.partition, ns, vector, DENSE_HITS, last=last)
    near = dense.search(model.partition, ns, vector, 2 * DENSE_HITS, last=last)
    if near is None:
        return None
    claims = [doc // 2 for doc, _ in near.hits if doc % 2]
    foreign = {row[0] for row in model.rows_in("SELECT seq FROM foreign_claims WHERE seq IN carray(?)", claims)}
    own = [hit for hit in near.hits if not (hit[0] % 2 and hit[0] // 2 in foreign)]
    return replace(near, hits=own[:DENSE_HITS])


def _slot_documents(model: ReadModel, ns: int, question: Question, names: Sequence[str], last: int) -> list[int]:
    """Claims of the subjects that are asked about, under the predicates that are asked for."""
    subjects = list(names) or [question.subject]
    if question.first_person and question.subject not in subjects:
        subjects.append(question.subject)
    documents: list[int] = []
    for subject in subjects:
        for predicate in question.asks:
            if predicate.endswith(".*"):
                family = predicate[:-1]
                rows = model.rows(_FAMILY_CLAIMS, ns, subject, family, family[:-1] + "/", last, SLOT_CLAIMS)
            else:
                rows = model.rows(_SLOT_CLAIMS, ns, subject, predicate, last, SLOT_CLAIMS)
            documents += [document_of_claim(row[0]) for row in rows]
    return documents


_SLOT_CLAIMS: Final = """SELECT seq FROM claims WHERE ns = ? AND subject_key = ? AND predicate = ?
    AND seq <= ? ORDER BY seq DESC LIMIT ?"""
_FAMILY_CLAIMS: Final = """SELECT seq FROM claims WHERE ns = ? AND subject_key = ? AND predicate > ? AND predicate < ?
    AND seq <= ? LIMIT ?"""
