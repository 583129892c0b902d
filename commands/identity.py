"""Who is who: another name of a subject, two subjects that are one, a name that was taken for another's.

Names are personal and stand in the body alone. Nothing in the log is rewritten: what was said under each name stays
there, and is read together from when it is known that they are one.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from taishi.ingest.envelope import NewEvent
from taishi.ingest.errors import Conflict, InvalidInput, NotFound
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.names import Name, Namespace
from taishi.ingest.normal import normal_value
from taishi.ingest.web import Contract

from .ports import Ports


class Alias(Contract):
    """`name` is another name of `of` (`user` for the one whose memory it is)."""

    namespace: Namespace
    name: Name
    of: Name


class Merge(Contract):
    """`name` and all its other names are the same as `into`, and go by that name."""

    namespace: Namespace
    name: Name
    into: Name


class Split(Contract):
    """`name` is nobody else's any more."""

    namespace: Namespace
    name: Name


class Identified(BaseModel):
    """`names` are all that the subject goes by now."""

    position: str
    names: list[str]


async def alias(body: Alias, ports: Ports) -> dict[str, Any]:
    """Raises Conflict where the name is known as another one's already."""
    _differ(body.name, body.of, "of")
    await ports.call(ports.directory.settled, body.namespace)
    known = await ports.call(ports.directory.names, body.namespace, body.name)
    theirs = await ports.call(ports.directory.names, body.namespace, body.of)
    if known and not _holds(known, body.of):
        raise Conflict(f"{body.name} is a name of {known[0]}: merge the two, or split the name first", field="name")
    position = await _place("entity.aliased", body.namespace, {"name": body.name, "of": body.of}, ports)
    return {"position": position, "names": _together([body.of, *theirs], [body.name])}


async def merge(body: Merge, ports: Ports) -> dict[str, Any]:
    _differ(body.name, body.into, "into")
    await ports.call(ports.directory.settled, body.namespace)
    known = await ports.call(ports.directory.names, body.namespace, body.name)
    theirs = await ports.call(ports.directory.names, body.namespace, body.into)
    position = await _place("entity.merged", body.namespace, {"name": body.name, "into": body.into}, ports)
    return {"position": position, "names": _together([body.into, *theirs], [body.name, *known])}


async def split(body: Split, ports: Ports) -> dict[str, Any]:
    """Raises NotFound where the name is nobody else's."""
    await ports.call(ports.directory.settled, body.namespace)
    if not await ports.call(ports.directory.names, body.namespace, body.name):
        raise NotFound(f"{body.name} is not known as a name of anyone else", field="name")
    position = await _place("entity.split", body.namespace, {"name": body.name}, ports)
    return {"position": position, "names": [body.name]}


def _differ(name: str, other: str, field: str) -> None:
    if not normal_value(name) or not normal_value(other):
        raise InvalidInput("a name has more than marks in it", field=field)
    if normal_value(name) == normal_value(other):
        raise InvalidInput("these are one name already: case, width and script do not part names", field=field)


def _holds(names: tuple[str, ...], one: str) -> bool:
    return normal_value(one) in {normal_value(name) for name in names}


def _together(names: list[str], more: list[str]) -> list[str]:
    return list({normal_value(name): name for name in reversed([*names, *more])}.values())[::-1]


async def _place(type_: str, namespace: str, body: dict[str, str], ports: Ports) -> str:
    event = NewEvent(event_id=new_id(), type=type_, namespace=namespace, body=body)
    appended = await ports.commits.append(Batch(events=[event]))
    return str(appended.recorded[0].position)
