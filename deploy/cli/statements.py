"""Commands that say something: `tell`, `remember`; and of a memory: `correct`, `confirm`, `resolve`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .session import AsJson, Namespace, When, out, pairs_of, session, show, words_of


def tell(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What was said; `-` reads standard input.")],
    namespace: Namespace = None,
    session_id: Annotated[str | None, typer.Option("--session", metavar="ID")] = None,
    actor: Annotated[str | None, typer.Option(metavar="ID", help="Who said it.")] = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="The speaker's display name.")] = None,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="user, assistant, tool or system.")] = None,
    origin: Annotated[str | None, typer.Option(metavar="ORIGIN")] = None,
    occurred_at: When = None,
    sensitive: Annotated[bool, typer.Option(help="Keep secrets that would be redacted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Records a message. What it says becomes memories by itself, a moment later."""
    speaker = {k: v for k, v in (("id", actor), ("name", name), ("role", role)) if v is not None}
    with session(namespace, as_json=as_json) as here:
        event: dict[str, Any] = {
            "namespace": here.namespace,
            "content": words_of(text),
            "session": session_id,
            "actor": speaker or None,
            "origin": origin,
            "occurred_at": occurred_at,
            "sensitive": True if sensitive else None,
        }
        event = {k: v for k, v in event.items() if v is not None}
        reply = here.client.write.call("POST", "/v1/events", {"events": [event]})
        show(reply, as_json, lambda r: out.print(f"recorded at {r['accepted'][0]['position']}"))


def remember(
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The memory in words; `-` reads standard input.")
    ] = None,
    namespace: Namespace = None,
    subject: Annotated[str | None, typer.Option(metavar="NAME", help="Whom it is about; default: the user.")] = None,
    predicate: Annotated[str | None, typer.Option(metavar="NAME", help="Such as lives_in, likes, works_at.")] = None,
    value: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    negated: Annotated[bool, typer.Option(help="It is said not to be so.")] = False,
    qualifier: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    valid_from: When = None,
    valid_to: When = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1)] = None,
    as_json: AsJson = False,
) -> None:
    """Records one memory as it is given, without any reading of words."""
    structured = predicate is not None or value is not None
    with session(namespace, as_json=as_json) as here:
        body = {
            "namespace": here.namespace,
            "text": None if text is None else words_of(text),
            "subject": "user" if subject is None and structured else subject,
            "predicate": predicate,
            "value": value,
            "polarity": "negative" if negated else None,
            "qualifiers": pairs_of(qualifier, "--qualifier"),
            "valid_from": valid_from,
            "valid_to": valid_to,
            "importance": importance,
        }
        reply = here.client.write.call("POST", "/v1/memories", body)
        show(reply, as_json, lambda r: out.print(f"remembered as {r['memory_id']} at {r['position']}"))


def correct(
    memory_id: Annotated[str, typer.Argument(metavar="ID")],
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What is right, in words.")] = None,
    namespace: Namespace = None,
    value: Annotated[str | None, typer.Option(metavar="TEXT", help="What is right, as a value.")] = None,
    valid_from: When = None,
    valid_to: When = None,
    was: Annotated[
        str, typer.Option(metavar="wrong|true_until", help="Was it never true, or true until something changed?")
    ] = "wrong",
    reason: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    as_json: AsJson = False,
) -> None:
    """Corrects a memory: what was believed stays in its history."""
    with session(namespace, as_json=as_json) as here:
        body = {
            "namespace": here.namespace,
            "text": None if text is None else words_of(text),
            "value": value,
            "valid_from": valid_from,
            "valid_to": valid_to,
            "was": was,
            "reason": reason,
        }
        reply = here.client.write.call("POST", f"/v1/memories/{memory_id}/correct", body)
        show(reply, as_json, lambda r: out.print(f"corrected by {r['memory_id']} at {r['position']}"))


def confirm(
    memory_id: Annotated[str, typer.Argument(metavar="ID")], namespace: Namespace = None, as_json: AsJson = False
) -> None:
    """Says that a memory is right."""
    with session(namespace, as_json=as_json) as here:
        reply = here.client.write.call("POST", f"/v1/memories/{memory_id}/confirm", {"namespace": here.namespace})
        show(reply, as_json, lambda r: out.print(f"confirmed at {r['position']}"))


def resolve(
    slot: Annotated[str, typer.Argument(metavar="SLOT", help="As contested memories name it.")],
    namespace: Namespace = None,
    winner: Annotated[str | None, typer.Option(metavar="ID", help="The memory that holds.")] = None,
    coexist: Annotated[bool, typer.Option("--coexist", help="All of them hold.")] = False,
    reason: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    as_json: AsJson = False,
) -> None:
    """Decides between contested memories."""
    if (winner is not None) == coexist:
        raise typer.BadParameter("give either --winner ID or --coexist")
    with session(namespace, as_json=as_json) as here:
        body = {"namespace": here.namespace, "winner": winner, "coexist": True if coexist else None, "reason": reason}
        reply = here.client.write.call("POST", f"/v1/conflicts/{slot}/resolve", body)
        show(reply, as_json, lambda r: out.print(f"resolved at {r['position']}"))
