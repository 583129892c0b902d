"""Answers of a model that could not be used, kept for whoever has to find out why.

Such an answer may repeat the words it was asked about. It is therefore sealed under a key made of the data keys of all
those words: forgetting any of them makes the answer unreadable in the same moment, without a look at it.
"""

from __future__ import annotations

import base64
import hmac
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .crypto import NO_KEY, NONCE_BYTES, seal, unseal
from .envelope import Event
from .errors import LogDamaged
from .keys import KeyStore

LONGEST: Final = 65_536
"""Bytes of an answer that are kept."""
_PURPOSE: Final = b"taishi answer"


class Answers:
    def __init__(self, keys: KeyStore) -> None:
        self._keys = keys

    def keep(self, answer: bytes, asked_about: Sequence[Event]) -> dict[str, Any] | None:
        """What a failure's body holds of `answer`; None where some of the words are erased by now."""
        key_ids = sorted({event.key_id for event in asked_about} - {NO_KEY})
        kept: dict[str, Any] = {"keys": key_ids, "bytes": len(answer)}
        answer = answer[:LONGEST]
        if not key_ids:
            return {**kept, "answer": answer.decode("utf-8", "backslashreplace")}
        key = self._key(key_ids)
        if key is None:
            return None
        sealed = seal(answer, key=key, nonce=os.urandom(NONCE_BYTES), header=_PURPOSE)
        return {**kept, "answer": base64.b64encode(sealed).decode()}

    def opened(self, body: Mapping[str, Any] | None) -> str | None:
        """The answer that a failure's body holds; None where it holds none, or some of the words were erased."""
        if not body or "answer" not in body:
            return None
        if not body["keys"]:
            return str(body["answer"])
        key = self._key(body["keys"])
        if key is None:
            return None
        return unseal(base64.b64decode(body["answer"]), key=key, header=_PURPOSE).decode("utf-8", "backslashreplace")

    def _key(self, key_ids: Sequence[int]) -> bytes | None:
        found = self._keys.keys(key_ids)
        keys = [found[key_id] for key_id in key_ids if key_id in found]
        if len(keys) != len(key_ids):
            raise LogDamaged("the key store lacks a key of the words that a kept answer is about")
        alive = [key for key in keys if key is not None]
        return hmac.digest(b"".join(alive), _PURPOSE, "sha256") if len(alive) == len(key_ids) else None
