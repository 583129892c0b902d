"""System events: what the deployment says of itself, once in every partition, so that each can be read alone.

They stand in the namespaces that `partitions` keeps for them. Ids follow from the command and the partition: said
twice, the log holds it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .envelope import Actor, NewEvent
from .ids import derived_id
from .log import Batch, EventLog
from .partitions import system_namespace


def system_event_id(type_: str, command: str, partition: int) -> str:
    return derived_id(type_, command, str(partition))


def system_event(
    type_: str, *, command: str, partition: int, partitions: int, facts: Mapping[str, Any]
) -> NewEvent:
    """`command` names what is said, so that it is said once."""
    return NewEvent(
        event_id=system_event_id(type_, command, partition),
        type=type_,
        namespace=system_namespace(partition, partitions),
        actor=Actor(role="system"),
        origin="system",
        session_kind="task",
        body={},
        facts=facts,
    )


def announce(log: EventLog, type_: str, *, command: str, facts: Mapping[str, Any]) -> None:
    """Says it in every partition. Raises what `append` raises."""
    for partition in range(log.partitions):
        event = system_event(type_, command=command, partition=partition, partitions=log.partitions, facts=facts)
        log.append(Batch(events=[event]))
