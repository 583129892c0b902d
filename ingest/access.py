"""Who may call: API keys that are scoped to namespaces and carry rights. Without keys (loopback only) all is open."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from starlette.requests import Request

from .errors import ConfigurationError, Forbidden, Unauthorised

Right = Literal["publish", "command", "query", "admin"]
RIGHTS: Final[tuple[Right, ...]] = get_args(Right)
MIN_KEY_LENGTH: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """`digest` is SHA-256 of the key: the key itself is not kept. `admin` holds every other right.

    `namespaces` are exact names, or prefixes where they end in `*`; None means every namespace.
    """

    name: str
    digest: bytes
    rights: frozenset[Right]
    namespaces: tuple[str, ...] | None = None

    @classmethod
    def of(cls, *, name: str, key: str, rights: Sequence[str], namespaces: Sequence[str] | None = None) -> ApiKey:
        """Raises ConfigurationError on a short key or an unknown right; the message does not hold the key."""
        if len(key) < MIN_KEY_LENGTH:
            raise ConfigurationError(f"API key {name!r} is shorter than {MIN_KEY_LENGTH} characters: make a longer one")
        known = frozenset(right for right in RIGHTS if right in rights)
        if not rights or len(known) != len(set(rights)):
            raise ConfigurationError(f"API key {name!r}: rights are any of {', '.join(RIGHTS)}")
        scope = None if namespaces is None or "*" in namespaces else tuple(namespaces)
        return cls(name=name, digest=hashlib.sha256(key.encode()).digest(), rights=known, namespaces=scope)

    def covers(self, namespace: str) -> bool:
        if self.namespaces is None:
            return True
        return any(
            namespace.startswith(scope[:-1]) if scope.endswith("*") else namespace == scope for scope in self.namespaces
        )

    def require(self, right: Right, namespace: str | None = None) -> None:
        """Raises Forbidden. A call about no single namespace (None) needs a key for all of them."""
        if right not in self.rights and "admin" not in self.rights:
            raise Forbidden(f"this API key lacks the right {right!r}: ask for one that has it")
        if self.namespaces is not None and (namespace is None or not self.covers(namespace)):
            raise Forbidden("this API key does not reach that namespace: use one that does", field="namespace")


OPEN: Final = ApiKey(name="open", digest=b"", rights=frozenset(RIGHTS))
"""What a caller may do where no keys are configured."""


class Guard:
    """Finds the key a request was made with, in time that does not depend on which key, if any, it is."""

    def __init__(self, keys: Sequence[ApiKey] = ()) -> None:
        self._keys: Final = tuple(keys)

    def identify(self, request: Request) -> ApiKey:
        """The key, from `Authorization: Bearer` or `X-API-Key`. Raises Unauthorised."""
        if not self._keys:
            return OPEN
        given = request.headers.get("x-api-key")
        if given is None:
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            given = token.strip() if scheme.lower() == "bearer" else ""
        if not given:
            raise Unauthorised("an API key is needed: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`")
        digest = hashlib.sha256(given.encode("latin-1")).digest()  # header bytes as they came
        found = [key for key in self._keys if hmac.compare_digest(key.digest, digest)]
        if not found:
            raise Unauthorised("the API key is not known here: send one that this deployment was configured with")
        return found[0]


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refuse_open_bind(host: str, keys: Sequence[ApiKey]) -> None:
    """Raises ConfigurationError when an address that others reach would be served without keys."""
    if not keys and not is_loopback(host):
        raise ConfigurationError(f"refusing to serve on {host} without API keys: configure keys, or serve on 127.0.0.1")
