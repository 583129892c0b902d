"""The hash chain over one partition: whoever changes, drops or reorders an entry changes every later value.

`chain = SHA-256(previous ‖ seq ‖ event_id ‖ appended_at ‖ recorded_at ‖ digest)`; the digest is over header and
ciphertext, so that the chain still verifies after keys were destroyed. Readers compute it; pure.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Final

from .envelope import Event

GENESIS: Final = bytes(32)
"""The value before a partition's first entry."""

_LINK: Final = struct.Struct(">32sQ16sqq32s")


def link(previous: bytes, *, seq: int, event_id: str, appended_at: int, recorded_at: int, digest: bytes) -> bytes:
    """The chain's value after an entry: 32 bytes. Every part has a fixed width, so that no two entries read alike."""
    if len(previous) != 32 or len(digest) != 32:
        raise ValueError("a chain value and a digest have 32 bytes each")
    identity = bytes.fromhex(event_id.replace("-", ""))
    return hashlib.sha256(_LINK.pack(previous, seq, identity, appended_at, recorded_at, digest)).digest()


def extend(previous: bytes, event: Event) -> bytes:
    """The chain's value after `event`."""
    return link(
        previous,
        seq=event.position.seq,
        event_id=event.event_id,
        appended_at=event.appended_at,
        recorded_at=event.recorded_at,
        digest=event.digest,
    )
