"""How something went over time, to be told ("summarise how …", "in what order did I bring up …", `总结一下…`).

Such a request is mostly about the conversations: its topic is what is left when the words for telling are taken away,
and it is that which memories speak of. What answers it is spread over the sessions; one that holds many of the best
memories is no better an answer by telling the same stretch again and again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from .folding import Ranked
from .passages import length
from .reading import ReadModel

LONGEST: Final = 400
"""Characters of a request that is looked through."""
SHORTEST: Final = 2
"""Words (two Han characters count as one) of a topic."""
SUMMAND: Final = "spread"
"""How `why` calls what a memory loses for others of its session before it."""
SAME_SESSION: Final = 0.15
"""For each of them, up to MOST. Dev halves, beam R@10: with nothing .699, with .1 .709; later with .1 .730, with this
.732."""
MOST: Final = 4

_TALKS: Final = (
    r"(?:throughout|across|over|during|in|from) (?:all )?(?:of )?(?:our|my|the|these) (?:\w+ )?"
    r"(?:conversations?|chats?|sessions?|discussions?|talks?|messages?|requests?|questions?|exchanges?)"
)
_ACCOUNT: Final = r"(?:summary|overview|recap|rundown|timeline|chronology|account|review)"
_ASKS: Final = re.compile(
    rf"(?:^|\byou |\bplease |\blet's )(?:summari[sz]e|recap|recount)\b|\b{_ACCOUNT} of\b"
    r"|\b(?:order|sequence) (?:in which|that|of how)\b"
    rf"|\bin order how\b|\b{_TALKS}\b"
    r"|\bhow (?:have|has|did) (?:my|our|the) .{2,80} (?:develop|evolve|progress|change|unfold|go)(?:ed|d)?\b.{0,20}"
    r"\bover time\b"
    r"|^(?:请|麻烦|帮我|给我|帮忙|你|能不能|能否|可以|能|再|先)*(?:总结|概括|梳理|回顾|归纳)|先后顺序|时间顺序"
    r"|(?:在|从)?我们(?:所有|历次|之前|以往)的?(?:对话|聊天|交流)",
    re.IGNORECASE,
)
_FRAME: Final = re.compile(
    r"(?:please )?(?:mention|list|give|name|use|include)(?: me)? only(?: and only)? \w+"
    r" (?:items?|points?|things?|entries)\.?"
    r"|\b(?:can|could|would|will) you(?: please)?\b|^please\b"
    r"|\b(?:list|give|provide|tell|show|walk|write|make|present)(?: (?:me|us))?(?: through)?"
    r"(?= (?:with )?(?:an? |the |in order\b))"
    r"|\b(?:with )?(?:an? |the )?"
    r"(?:(?:clear|comprehensive|complete|full|brief|short|quick|concise|detailed|thorough) )*"
    rf"{_ACCOUNT} of\b"
    r"|\b(?:summari[sz]e|recap|recount)\b|\b(?:the )?(?:order|sequence) (?:in which|that|of how)\b|\bin order how\b"
    r"|\bi (?:first )?(?:brought up|mentioned|raised|discussed|talked about|introduced|covered|asked about)\b"
    r"|\b(?:(?:the )?(?:different|various|several) (?:\w+ )?(?:aspects|topics|parts|things|points|themes|stages|areas)"
    r"|(?:the )?aspects)"
    r"(?: of| related to| about| regarding| around)?"
    rf"|\b{_TALKS}\b|\bover time\b|,? ?\bin (?:chronological )?order\b|\balong the way\b"
    r"|请|帮我|给我|按照?(?:时间)?(?:先后)?(?:的)?顺序|依次|列出|(?:总结|概括|梳理|回顾|归纳)(?:一下)?"
    r"|(?:在|从)?我们(?:所有|历次|之前|以往)的?(?:对话|聊天|交流)[里中]?"
    r"|我(?:先后)?(?:提到|聊到|说到|谈到|讨论)过?的?|(?:各个|不同的?|哪些)(?:方面|话题|内容|要点)",
    re.IGNORECASE,
)


def recounted(text: str) -> str | None:
    """The topic of a request to recount; None for any other, or where nothing else is said."""
    if len(text) > LONGEST or _ASKS.search(text) is None:
        return None
    topic = " ".join(_FRAME.sub(" ", text).split()).strip(" ,，.。;；")
    return topic if length(topic) >= SHORTEST else None


def sessions_of(model: ReadModel, ranked: Sequence[Ranked]) -> dict[int, str]:
    """The sessions in which the words of memories were said, by position of a raw event."""
    told = {seq for entry in ranked for seq in entry.sources}
    return {seq: session for seq, session in model.rows_in(_SESSIONS, told) if session is not None}


_SESSIONS: Final = "SELECT seq, session FROM events WHERE seq IN carray(?)"


def spread(ranked: Sequence[Ranked], sessions: Mapping[int, str], limit: int) -> list[Ranked]:
    """The best `limit` by score less what was told of their session before. Scores go down, never up."""
    left = list(ranked)
    told: Counter[str] = Counter()
    chosen: list[Ranked] = []
    while left and len(chosen) < limit:
        best = max(range(len(left)), key=lambda n: (left[n].score - _lost(left[n], sessions, told), -n))
        entry = left.pop(best)
        lost = _lost(entry, sessions, told)
        less = replace(entry, score=entry.score - lost, parts={**entry.parts, SUMMAND: -lost}) if lost else entry
        chosen.append(less)
        told.update({sessions[seq] for seq in entry.sources if seq in sessions})
    return chosen


def _lost(entry: Ranked, sessions: Mapping[int, str], told: Mapping[str, int]) -> float:
    before = [told.get(sessions[seq], 0) for seq in entry.sources if seq in sessions]
    return SAME_SESSION * min(min(before), MOST) if before else 0.0
