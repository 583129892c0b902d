"""`forget`: one memory at once, a wider scope after its dry run was seen and confirmed; and the proof of a receipt."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from ..amounts import amount
from .render import flat
from .session import AsJson, Namespace, Session, fail, out, print_json, progress_bar, session, show


def forget(
    memory_id: Annotated[str | None, typer.Argument(metavar="ID", help="What recall or list returned.")] = None,
    namespace: Namespace = None,
    subject: Annotated[str | None, typer.Option(metavar="NAME", help="All that is known about one subject.")] = None,
    session_id: Annotated[str | None, typer.Option("--session", metavar="ID", help="One session.")] = None,
    since: Annotated[str | None, typer.Option("--from", metavar="TIME", help="What was said from then on.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="TIME", help="What was said before then.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole namespace.")] = False,
    reason: Annotated[str | None, typer.Option(metavar="TEXT")] = None,
    confirm: Annotated[str | None, typer.Option(metavar="TOKEN", help="What a dry run with --json prints.")] = None,
    verify: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Prove the receipt that --json printed."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forgets for good: words, claims, index, keys. Anything beyond one memory is a dry run until it is confirmed."""
    if verify is not None:
        _verify(verify, as_json)
        return
    given = {"subject": subject, "session": session_id, "from": since, "to": until, "all": everything or None}
    scope = {k: v for k, v in given.items() if v is not None}
    if (memory_id is None) == (not scope):
        raise typer.BadParameter("give either an ID or a scope: --subject, --session, --from/--to, --all")
    with session(namespace, as_json=as_json) as here:
        if memory_id is not None:
            query = {"namespace": here.namespace, "reason": reason}
            _show(here.client.write.call("DELETE", f"/v1/memories/{memory_id}", query=query), as_json)
            return
        body: dict[str, Any] = {"namespace": here.namespace, **scope}
        if confirm is None:
            dry = here.client.write.call("POST", "/v1/forget", body)
            if as_json and not yes:
                print_json(dry)
                return
            if not any(dry["would_forget"].values()) and not dry.get("unread"):
                show(dry, as_json, lambda _: out.print("nothing matches: nothing was forgotten, nothing written"))
                return
            if not yes and not typer.confirm(f"This will forget {_counted(dry['would_forget'])}, for good. Go on?"):
                fail("nothing was forgotten")
            confirm = dry["confirm"]
        _show(_watched(here, {**body, "confirm": confirm}), as_json)


def _watched(here: Session, body: dict[str, Any]) -> dict[str, Any]:
    """The reply; a bar on stderr shows how far it is."""
    told: dict[str, Any] = {}
    with progress_bar() as bar:
        task = bar.add_task("forgetting", total=None)
        for told in here.client.write.lines("POST", "/v1/forget", body):
            if "done" in told:
                bar.update(task, completed=told["done"], total=told["of"])
    return told


def _verify(path: Path, as_json: bool) -> None:
    """Exit code 1 unless all of it holds."""
    try:
        given = orjson.loads(path.read_bytes())
        receipt = given.get("receipt", given)
    except (ValueError, AttributeError):
        raise typer.BadParameter("the file holds no receipt", param_hint="--verify") from None
    with session(as_json=as_json) as here:
        proof = here.client.write.call("POST", "/v1/forget/verify", {"receipt": receipt})
    if as_json:
        print_json(proof)
    else:
        out.print("proved" if proof["proved"] else "not proved")
        for name, said in proof["checks"].items():
            out.print(f"  {name.replace('_', ' ')}: {said}")
    if not proof["proved"]:
        raise typer.Exit(1)


def _counted(would_forget: dict[str, int]) -> str:
    kinds = ((number, kind.replace("_", " ").removesuffix("s")) for kind, number in would_forget.items())
    return ", ".join(amount(number, kind) for number, kind in kinds)


def _show(reply: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(reply)
        return
    out.print("forgotten")
    for name, value in reply["receipt"].items():
        out.print(f"  {name.replace('_', ' ')}: {flat(value)}")
