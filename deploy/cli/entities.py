"""`entities`: who goes by which names, and saying so."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from .render import moment
from .session import AsJson, Namespace, out, session, show

entities: Final = typer.Typer(help="Who goes by which names.", add_completion=False, rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="NAME", help="`user` is the one whose memory it is.")]


@entities.callback(invoke_without_command=True)
def _entities(context: typer.Context, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """Who goes by which names: lists them, or says it."""
    if context.invoked_subcommand is None:
        list_entities(namespace=namespace, as_json=as_json)


@entities.command("list")
def list_entities(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The one it belongs to.")] = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Entities that go by several names, and names they went by once."""
    with session(namespace, as_json=as_json) as here:
        reply = here.client.read.call("GET", "/v1/entities", query={"namespace": here.namespace, "name": name})
        show(reply, as_json, _listed)


@entities.command("alias")
def alias(
    name: Name,
    of: Annotated[str, typer.Option("--of", metavar="NAME", help="Whose other name it is.")],
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Says that NAME is another name of someone."""
    _say("alias", {"name": name, "of": of}, namespace, as_json)


@entities.command("merge")
def merge(
    name: Name,
    into: Annotated[str, typer.Option("--into", metavar="NAME", help="The name that stays.")],
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Says that two are one, with all their names."""
    _say("merge", {"name": name, "into": into}, namespace, as_json)


@entities.command("split")
def split(name: Name, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """Says that NAME is nobody else's any more."""
    _say("split", {"name": name}, namespace, as_json)


def _say(what: str, said: dict[str, Any], namespace: str | None, as_json: bool) -> None:
    with session(namespace, as_json=as_json) as here:
        reply = here.client.write.call("POST", f"/v1/entities/{what}", {"namespace": here.namespace, **said})
        show(reply, as_json, lambda r: out.print(f"{', '.join(r['names'])} (at {r['position']})"))


def _listed(reply: dict[str, Any]) -> None:
    if not reply["items"]:
        out.print("nobody goes by several names")
    for item in reply["items"]:
        others = [one["name"] for one in item["names"] if one["name"] != item["name"]]
        out.print(f"{item['name']}: {', '.join(others) or '-'}")
        for one in item["history"]:
            out.print(f"  {one['name']}, until {moment(one['known_to'])}")
