"""Signatures of this deployment over what it seals: Ed25519, so that whoever holds the public key can check them.

The private key is a secret of the key store; it never leaves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .keys import KeyStore

SECRET: Final = "seal"
FIELD: Final = "signature"


def signed_bytes(document: Mapping[str, Any]) -> bytes:
    """What is signed of a JSON document: all but the signature itself, keys sorted, no blanks."""
    return orjson.dumps({k: v for k, v in document.items() if k != FIELD}, option=orjson.OPT_SORT_KEYS)


class Verifier:
    """Holds a public key of 32 bytes. Raises ValueError where it is none."""

    def __init__(self, public_key: bytes) -> None:
        self.public_key: Final = public_key
        self._key: Final = Ed25519PublicKey.from_public_bytes(public_key)

    def verifies(self, document: Mapping[str, Any]) -> bool:
        try:
            self._key.verify(bytes.fromhex(document[FIELD]), signed_bytes(document))
        except (InvalidSignature, ValueError, KeyError, TypeError):
            return False
        return True


class Signer(Verifier):
    """Signs documents. `seed` has 32 bytes."""

    def __init__(self, seed: bytes) -> None:
        self._private: Final = Ed25519PrivateKey.from_private_bytes(seed)
        super().__init__(self._private.public_key().public_bytes_raw())

    @classmethod
    def of(cls, keys: KeyStore) -> Signer:
        return cls(keys.secret(SECRET))

    def sign(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with its signature."""
        return {**document, FIELD: self._private.sign(signed_bytes(document)).hex()}
