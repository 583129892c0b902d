"""What a memory reads like: one sentence for a claim, for a raw event, and for the embedder.

The fold, the vector worker and recall share these, so that what is indexed is what is shown.
"""

from __future__ import annotations

import re
from typing import Final

from taishi.ingest.claims import Claim

USER: Final = "user"
"""The subject and speaker that stand for the one whose memory this is; never shown as a name."""

_USER_LEAD: Final = re.compile(r"\s*(?:(?:该|此|本)?用户(?:的)?|the user(?:'s|’s)?\b|user:)[\s:：,，]*", re.IGNORECASE)


def spoken(text: str, speaker: str | None) -> str:
    """`speaker: text` where the words are not the user's own."""
    return text if not speaker or speaker == USER else f"{speaker}: {text}"


def render_claim(claim: Claim) -> str:
    """The quoted span, with the speaker's name before it where it is not the user's own; a claim without words of its
    own as subject, predicate, value (`user works at Acme (team: search)`), a denied one as a sentence that says no
    (`user does not work at Acme`)."""
    if claim.quote is not None and claim.quote.text.strip():
        return spoken(claim.quote.text.strip(), claim.said_by)
    relation = claim.predicate.replace("_", " ").replace(".", " ")
    parts = [claim.subject, denied(relation) if claim.negated else relation, claim.value]
    if claim.qualifiers:
        parts.append("(" + ", ".join(f"{k}: {v}" for k, v in sorted(claim.qualifiers.items())) + ")")
    return " ".join(part for part in parts if part)


def denied(relation: str) -> str:
    """A predicate's words as they say no: a verb with its auxiliary, what is no verb with "is not"."""
    if "\u3400" <= relation[:1] <= "\u9fff":
        return f"没{relation}" if relation.startswith("有") else f"不{relation}"
    if relation in _TOLD_OF_PAST:
        return f"did not {_TOLD_OF_PAST[relation]}".rstrip()
    verb, gap, rest = relation.partition(" ")
    if verb in _NO_VERB or not verb.endswith("s") or verb.endswith("ss"):
        verbal = verb in _ADJECTIVE or verb.endswith("ing")
        return f"is not {relation}" if verbal else f"{relation} is not"
    return f"does not {_BASE.get(verb, verb[:-1])}{gap}{rest}"


_TOLD_OF_PAST: Final = {"did": "", "lived in": "live in", "worked at": "work at", "studied at": "study at"}
_NO_VERB: Final = frozenset({"status"})
_ADJECTIVE: Final = frozenset({"allergic", "afraid", "located", "member", "interested", "married"})
_BASE: Final = {
    "studies": "study", "teaches": "teach", "watches": "watch", "has": "have", "goes": "go", "does": "do", "is": "be",
}  # fmt: skip


def searchable(shown: str, subject: str | None, value: str | None) -> str:
    """The words a claim is found by: what is shown, and its subject and value where those words lack them."""
    return "\n".join([shown, *(part for part in (subject, value) if part and part not in shown and part != USER)])


def for_embedding(text: str) -> str:
    """Without a leading "用户" or "the user", which pulls all such sentences together. Empty only if `text` is."""
    lead = _USER_LEAD.match(text)
    return text if lead is None else text[lead.end():] or text
