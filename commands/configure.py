"""Configuring a namespace: settings are events too, so that a replay reads the past as it was read then."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from taishi.ingest.dictionary import dictionary_words
from taishi.ingest.envelope import NewEvent
from taishi.ingest.errors import InvalidInput
from taishi.ingest.ids import new_id
from taishi.ingest.log import Batch
from taishi.ingest.web import Contract

from .ports import Ports

_NOWHERE: Final = frozenset({"localtime", "Factory"})
"""Names that stand for no place: what they mean is the host's affair, and a replay elsewhere would read other times."""


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - _NOWHERE)


def _zone(name: str) -> str:
    if name not in _zones():
        raise PydanticCustomError("timezone", "give a time zone of the IANA list, such as Asia/Shanghai")
    return name


class Configure(Contract):
    """Settings that are left out stay as they are. `dictionary` are Chinese words that are found as such, in place of
    all that were set before. `fading` off keeps all memories as they are; `capacity` is how many claims may be
    in normal recall."""

    timezone: Annotated[str, AfterValidator(_zone)] | None = None
    dictionary: list[str] | None = None
    fading: Literal["on", "off"] | None = None
    capacity: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None


class Placed(BaseModel):
    position: str


async def configure(namespace: str, body: Configure, ports: Ports) -> dict[str, str]:
    given = body.model_dump(exclude_none=True)
    if not given:
        raise InvalidInput("there is nothing to set: give timezone, dictionary, fading or capacity", field="timezone")
    if body.dictionary is not None:
        given["dictionary"] = list(dictionary_words(body.dictionary))
    event = NewEvent(event_id=new_id(), type="namespace.configured", namespace=namespace, body=given, origin="system")
    appended = await ports.commits.append(Batch(events=[event]))
    return {"position": str(appended.recorded[0].position)}
