"""Chain heads to be kept elsewhere: a signed document that says how each partition's hash chain stood at a moment.

Whoever holds one can tell later whether the log still is what it was, even if everything in this deployment was written
anew: the chain's value at the anchored place would be another. The signature is checked with the public key alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from .errors import InvalidInput, LogDamaged
from .instants import render
from .signatures import Signer, Verifier
from .verification import Remembered, Verdict

FORMAT: Final = 1


def anchor(verdicts: Sequence[Verdict], *, at: int, signer: Signer) -> bytes:
    """JSON. Raises LogDamaged where a partition was found unsound: that is not to be anchored. `at` is an instant."""
    for verdict in verdicts:
        if verdict.flaws:
            flaw = verdict.flaws[0]
            raise LogDamaged(f"the log is not sound at {flaw.position}: {flaw.what}")
    document = {
        "format": FORMAT,
        "at": render(at),
        "partitions": [
            {"partition": verdict.partition, "seq": verdict.head, "chain": verdict.chain} for verdict in verdicts
        ],
        "public_key": signer.public_key.hex(),
    }
    return orjson.dumps(signer.sign(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def anchored(document: bytes, *, name: str, verifier: Verifier) -> list[Remembered]:
    """What an anchor remembers. Raises InvalidInput where it is none, was altered, or was signed by another key."""
    try:
        content: dict[str, Any] = orjson.loads(document)
        if not verifier.verifies(content):
            raise InvalidInput(f"{name} was altered, or signed by another deployment: its signature does not fit")
        if content["format"] != FORMAT:
            raise InvalidInput(f"{name} has format {content['format']}, this version reads {FORMAT}")
        return [
            Remembered(name=name, partition=row["partition"], seq=row["seq"], chain=bytes.fromhex(row["chain"]))
            for row in content["partitions"]
            if row["seq"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(f"{name} is no file of chain heads") from None
