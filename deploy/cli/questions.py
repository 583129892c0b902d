"""Commands that ask: `recall`, `list`, `explain`, `timeline`, `status`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from .render import flat, item_lines, moment, print_items, rectangles
from .session import AsJson, Namespace, When, out, session, show


def recall(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    namespace: Namespace = None,
    valid_at: When = None,
    known_at: When = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    budget: Annotated[int | None, typer.Option(min=1, metavar="TOKENS", help="Room for the context.")] = None,
    session_id: Annotated[str | None, typer.Option("--session", metavar="ID")] = None,
    actor: Annotated[str | None, typer.Option(metavar="ID", help="Who asks: in a chat of several, who “I” is.")] = None,
    as_of_position: Annotated[
        str | None, typer.Option(metavar="POSITION", help="As it was read up to there.")
    ] = None,
    min_position: Annotated[str | None, typer.Option(metavar="POSITION", help="Wait until this was read.")] = None,
    explain: Annotated[bool, typer.Option(help="Say why each item stands where it stands.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answers a question from memory, with evidence."""
    with session(namespace, as_json=as_json) as here:
        body = {
            "namespace": here.namespace,
            "query": query,
            "valid_at": valid_at,
            "known_at": known_at,
            "limit": limit,
            "token_budget": budget,
            "session": session_id,
            "actor": actor,
            "as_of_position": as_of_position,
            "min_position": min_position,
            "explain": True if explain else None,
        }
        reply = here.client.read.call("POST", "/v1/recall", body)
        show(reply, as_json, lambda r: _answer(r, explain=explain))


def _answer(reply: dict[str, Any], *, explain: bool) -> None:
    missing = f"  (degraded: {', '.join(reply['degraded'])})" if reply.get("degraded") else ""
    out.print(str(reply["answerability"]).replace("_", " ") + missing)
    if reply["items"]:
        print_items(reply["items"], why=explain)


def list_memories(
    namespace: Namespace = None,
    subject: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    predicate: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    status: Annotated[str | None, typer.Option(metavar="STATUS[,STATUS]", help="current, superseded, …")] = None,
    valid_at: When = None,
    known_at: When = None,
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    cursor: Annotated[str | None, typer.Option(metavar="CURSOR", help="Where the last page ended.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists memories."""
    with session(namespace, as_json=as_json) as here:
        query = {
            "namespace": here.namespace,
            "subject": subject,
            "predicate": predicate,
            "status": status,
            "valid_at": valid_at,
            "known_at": known_at,
            "limit": limit,
            "cursor": cursor,
        }
        show(here.client.read.call("GET", "/v1/memories", query=query), as_json, _page)


def _page(reply: dict[str, Any]) -> None:
    print_items(reply["items"])
    if reply.get("next_cursor"):
        out.print(f"more: --cursor {reply['next_cursor']}")


def explain(
    memory_id: Annotated[str | None, typer.Argument(metavar="ID", help="A memory's id.")] = None,
    recall_id: Annotated[
        str | None, typer.Option("--recall", metavar="EXPOSURE_ID", help="How that answer came about instead.")
    ] = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Shows where a memory came from and what became of it; or how an answer came about."""
    if (memory_id is None) == (recall_id is None):
        raise typer.BadParameter("give a memory's ID, or --recall with an exposure's id")
    with session(namespace, as_json=as_json) as here:
        if recall_id is not None:
            whose = {"namespace": here.namespace}
            reply = here.client.read.call("GET", f"/v1/exposures/{recall_id}", query=whose)
            show(reply, as_json, _recalled)
            return
        reply = here.client.read.call("GET", f"/v1/memories/{memory_id}/explain", query={"namespace": here.namespace})
        show(reply, as_json, _explained)


def _explained(reply: dict[str, Any]) -> None:
    for line in item_lines(reply["memory"]):
        out.print(line)
    for word in reply["words"]:
        out.print(f"words at {word['position']}: {word.get('quote', '(erased)')}")
    window = reply.get("window")
    if window is not None:
        decision = f", {window['decision']}" if window.get("decision") else ""
        reader = reply.get("extractor") or "nobody"
        out.print(f"extracted by {reader}: {window['outcome']}{decision} at {window['position']}")
    if reply.get("rule"):
        out.print(f"rule: {reply['rule']}")
    for statement in reply.get("statements", ()):
        if statement.get("reason"):
            out.print(f"stated at {statement['position']} for: {statement['reason']}")
    for link in reply.get("chain", ()):
        old, new = ((link[side] or {}).get("value") or "(forgotten)" for side in ("old", "new"))
        became = "is believed no more" if link["new"] is None else f"gave way to {new}"
        out.print(f"at {moment(link['known_at'])}: {old} {became} ({link['rule']})")
    if (fate := reply.get("fate", {})).get("removed_by"):
        out.print(_taken_back(fate))
    for claim in reply.get("claims", ()):
        out.print(f"says: {claim['text']} ({claim['status']}, id {claim['id']})")
    for read in reply.get("reads", ()):
        who = " ".join(read["reader"].values()) or read["session"] or "somebody"
        out.print(f"recalled at {moment(read['at'])} by {who}, in place {read['rank']} (told at {read['position']})")
    if reply.get("beliefs"):
        _print_rectangles(reply["beliefs"])


def _taken_back(fate: Mapping[str, Any]) -> str:
    by = fate["removed_by"]
    instead = f"; instead: {by['memory']['text']}, id {by['memory']['id']}" if by["memory"] else ""
    reason = f", for: {by['reason']}" if by.get("reason") else ""
    what = f"{by['type'] or 'an event'} at {by['position']} ({fate['removed_why']})"
    return f"taken back at {moment(fate['removed_at'])} by {what}{reason}{instead}"


def _recalled(reply: dict[str, Any]) -> None:
    out.print(f"recall of {moment(reply['at'])}, told at {reply['position']}")
    if "intent" not in reply:
        out.print("no account of it was kept")
        return
    rule = f" ({reply['rule']})" if reply["rule"] != reply["intent"] else ""
    verdict = reply["answerability"].replace("_", " ")
    out.print(f"{verdict}, strength {reply['strength']:.2f}; asked: {reply['intent']}{rule}")
    out.print(f"as of: {flat(reply['as_of'])}")
    out.print(f"filters: {flat(reply['filters'])}")
    out.print(f"candidates: {flat(reply['candidates'])}; weights: {flat(reply['weights'])}")
    if reply["degraded"]:
        out.print(f"degraded: {', '.join(reply['degraded'])}")
    for number, item in enumerate(reply["items"], 1):
        out.print(f"{number}. {item['score']:.3f}  {item['text'] or '(forgotten)'}")
        ranks = "".join(f"; {name} rank {rank}" for name, rank in item["ranks"].items())
        out.print(f"   {flat(item['scores'])}{ranks}  (id {item['id']})")
    more = reply["left_out_total"] - len(reply["left_out"])
    for item in reply["left_out"]:
        score = "" if item["score"] is None else f", {item['score']:.3f}"
        out.print(f"left out ({item['reason']}{score}): {item['text'] or '(forgotten)'}")
    if more > 0:
        out.print(f"and {more} more")


def timeline(
    namespace: Namespace = None,
    subject: Annotated[str | None, typer.Option(metavar="NAME", help="Default: the user.")] = None,
    predicate: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    valid_at: When = None,
    known_at: When = None,
    as_json: AsJson = False,
) -> None:
    """Shows what was true when, and when it was known, with the status at the asked point (default: now)."""
    with session(namespace, as_json=as_json) as here:
        query = {
            "namespace": here.namespace,
            "subject": subject,
            "predicate": predicate,
            "valid_at": valid_at,
            "known_at": known_at,
        }
        show(here.client.read.call("GET", "/v1/timeline", query=query), as_json, _timeline)


def _timeline(reply: dict[str, Any]) -> None:
    if reply["items"]:
        _print_rectangles(reply["items"])
    else:
        out.print("nothing")
    if reply.get("truncated"):
        out.print("there is more: name a predicate")


def status(
    namespace: Namespace = None,
    everything: Annotated[bool, typer.Option("--all", help="All namespaces together.")] = False,
    as_json: AsJson = False,
) -> None:
    """Shows how far the read models have read, and what waits: of one namespace, or of all."""
    if everything and namespace is not None:
        raise typer.BadParameter("give either --namespace or --all")
    with session(namespace, as_json=as_json) as here:
        query = {} if everything else {"namespace": here.namespace}
        show(here.client.read.call("GET", "/v1/status", query=query), as_json, _status)


def _status(reply: dict[str, Any]) -> None:
    for name, value in reply.items():
        if name == "positions" and all(isinstance(at, Mapping) for at in value.values()):
            for partition, at in value.items():
                out.print(f"{partition}: {flat(at)}")
            continue
        out.print(f"{name.replace('_', ' ')}: {flat(value) if value not in (None, []) else 'none'}")


def _print_rectangles(rows: Sequence[Mapping[str, Any]]) -> None:
    for line in rectangles(rows):
        out.print(line)
