"""Manifests: what a folder of a backup holds, each file with its SHA-256, the whole signed. Pure.

The signature is HMAC-SHA-256 under the key store's `ledger` secret: whoever can restore a backup holds a copy of the
key store, and with it the means to tell whether any other file of the backup was altered.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import orjson

FORMAT: Final = 1
Kind = Literal["log", "models", "keys"]


class ManifestRefused(ValueError):
    """The bytes are no manifest that this deployment signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSum:
    """`size` in bytes, `sha256` in hex."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`number` orders folders of one kind, from 1. `made_at` is an instant. `facts` are the kind's own:

    - `log`: per partition `after` and `upto` (the part holds seq in (after, upto]), the chain's values there,
      `chain_after` and `chain_upto`, and `digests` of the entries at `upto`, in hex
    - `models`: `heads`, per partition: the copies stand on a log that is at least so long
    - `keys`: `part`, the last log part whose keys it holds, and `last_key`
    """

    kind: Kind
    number: int
    made_at: int
    files: Mapping[str, FileSum]
    facts: Mapping[str, Any]

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT, "kind": self.kind, "number": self.number, "made_at": self.made_at,
            "files": {name: [one.size, one.sha256] for name, one in self.files.items()}, "facts": dict(self.facts),
        }  # fmt: skip

    def signed(self, secret: bytes) -> bytes:
        content = self._content()
        return orjson.dumps({**content, "mac": _mac(content, secret)}, option=orjson.OPT_INDENT_2) + b"\n"

    @classmethod
    def read(cls, given: bytes, secret: bytes) -> Self:
        """Raises ManifestRefused on anything but what `signed` made under this very secret."""
        try:
            content = orjson.loads(given)
            mac = content.pop("mac")
            if not hmac.compare_digest(str(mac), _mac(content, secret)):
                raise ManifestRefused("the signature does not fit: it was altered, or is another deployment's")
            if content["format"] != FORMAT:
                raise ManifestRefused(f"format {content['format']} is not one that this version reads")
            return cls(
                kind=content["kind"], number=content["number"], made_at=content["made_at"], facts=content["facts"],
                files={name: FileSum(size=size, sha256=sha) for name, (size, sha) in content["files"].items()},
            )  # fmt: skip
        except ManifestRefused:
            raise
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ManifestRefused("it is no manifest of a backup") from None


def _mac(content: Mapping[str, Any], secret: bytes) -> str:
    canonical = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    return hmac.new(secret, b"backup manifest" + canonical, hashlib.sha256).hexdigest()
