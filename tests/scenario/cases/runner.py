"""Plays a black-box case over HTTP alone and says what came otherwise than expected.

A case is a list of steps in a namespace of its own; `{ns}` stands for its name and `$name` for an id that an earlier
step gave. The files beside this module hold one case a line.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

Json = dict[str, Any]
FOLDER = Path(__file__).parent
_TIMES = ("valid_from", "valid_to", "occurs_from")


def load(name: str) -> list[Json]:
    """The cases of a file, in its order. Blank lines are allowed."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


class Otherwise(AssertionError):
    """A step of a case came otherwise than the case expects."""


@dataclass(frozen=True, slots=True)
class Server:
    """The two addresses of a running Taishi, each with its own pool of connections; safe to share between threads."""

    write: httpx.Client
    read: httpx.Client

    @classmethod
    def at(cls, *, write: str, read: str) -> Server:
        return cls(httpx.Client(base_url=write, timeout=60), httpx.Client(base_url=read, timeout=60))

    def close(self) -> None:
        self.write.close()
        self.read.close()

    def settle(self, namespace: str, *, seconds: float = 60) -> None:
        """Until what was written to the namespace is folded, extracted and embedded."""
        end = time.monotonic() + seconds
        while True:
            status = self.read.get("/v1/status", params={"namespace": namespace}).json()
            waiting = {k: status[k] for k in ("lag", "pending_extractions", "pending_vectors") if status[k]}
            if not waiting:
                return
            if time.monotonic() > end:
                raise Otherwise(f"after {seconds} s still {waiting}")
            time.sleep(0.03)


def play(case: Json, server: Server) -> None:
    """Raises `Otherwise` at the first step that fails; a fresh namespace keeps cases apart."""
    story = _Story(server, f"case-{uuid4().hex[:12]}")
    for number, step in enumerate(case["steps"], 1):
        try:
            story.take(step)
        except Otherwise as cause:
            raise Otherwise(f"{case['id']}, step {number}: {cause}") from None


@dataclass(slots=True)
class _Story:
    server: Server
    namespace: str
    names: dict[str, str] = field(default_factory=dict)

    def take(self, step: Json) -> None:
        kinds: dict[str, Callable[[Json], None]] = {
            "event": lambda s: self._publish([s["event"]]),
            "events": lambda s: self._publish(s["events"]),
            "import": lambda s: self._publish(s["import"], path="/v1/import"),
            "memory": self._remember,
            "correct": self._correct,
            "forget": lambda s: self._forget(s["forget"]),
            "forget_first": self._forget_first,
            "forget_scope": self._forget_scope,
            "feedback": self._rate,
            "raw": self._raw,
            "recall": self._recall,
            "list": self._list,
        }
        kind = next(k for k in kinds if k in step)
        kinds[kind](self._filled(step))

    def _filled(self, part: Any) -> Any:
        if isinstance(part, dict):
            return {key: self._filled(value) for key, value in part.items()}
        if isinstance(part, list):
            return [self._filled(value) for value in part]
        if isinstance(part, str):
            named = part.replace("{ns}", self.namespace)
            return re.sub(r"\$(\w+)", lambda found: self.names.get(found[1], found[0]), named)
        return part

    def _own(self, body: Json) -> Json:
        return {"namespace": self.namespace, **body}

    def _post(self, path: str, body: Json, *, side: str = "write") -> Json:
        client = self.server.write if side == "write" else self.server.read
        return _agreed(client.post(path, json=self._own(body)))

    def _publish(self, events: list[Json], *, path: str = "/v1/events") -> None:
        _agreed(self.server.write.post(path, json={"events": [self._own(event) for event in events]}))

    def _remember(self, step: Json) -> None:
        self.names[step.get("as", "_")] = self._post("/v1/memories", step["memory"])["memory_id"]

    def _correct(self, step: Json) -> None:
        self.server.settle(self.namespace)
        target, body = step["correct"]
        self.names[step.get("as", "_")] = self._post(f"/v1/memories/{target}/correct", body)["memory_id"]

    def _forget(self, target: str) -> None:
        self.server.settle(self.namespace)
        _agreed(self.server.write.delete(f"/v1/memories/{target}", params={"namespace": self.namespace}))

    def _forget_first(self, step: Json) -> None:
        self.server.settle(self.namespace)
        items = self._post("/v1/recall", step["forget_first"], side="read")["items"]
        if not items:
            raise Otherwise("nothing is recalled that could be forgotten")
        self._forget(items[0]["id"])

    def _forget_scope(self, step: Json) -> None:
        self.server.settle(self.namespace)
        dry = self._post("/v1/forget", step["forget_scope"])
        self._post("/v1/forget", {**step["forget_scope"], "confirm": dry["confirm"]})

    def _rate(self, step: Json) -> None:
        self._post("/v1/feedback", step["feedback"])

    def _raw(self, step: Json) -> None:
        method, side, path, body = step["raw"]
        client = self.server.write if side == "write" else self.server.read
        reply = client.request(method, path, json=body)
        allowed = step["status"] if isinstance(step["status"], list) else [step["status"]]
        if reply.status_code not in allowed:
            raise Otherwise(f"{method} {path} answers {reply.status_code}, not {allowed}: {reply.text[:200]}")

    def _recall(self, step: Json) -> None:
        self.server.settle(step["recall"].get("namespace", self.namespace))
        _judge(step["expect"], self._post("/v1/recall", step["recall"], side="read"))

    def _list(self, step: Json) -> None:
        self.server.settle(self.namespace)
        reply = self.server.read.get("/v1/memories", params=self._own(step["list"]))
        _judge(step["expect"], _agreed(reply))


def _agreed(reply: httpx.Response) -> Json:
    if not reply.is_success:
        asked = f"{reply.request.method} {reply.request.url.path}"
        raise Otherwise(f"{asked} answers {reply.status_code}: {reply.text[:200]}")
    body: Json = reply.json()
    return body


def _judge(expect: Json, reply: Json) -> None:
    items: list[Json] = reply["items"]
    shown = [f"{item.get('text') or ''} {item.get('value') or ''}" for item in items]
    for fault in _faults(expect, reply, items, shown):
        raise Otherwise(f"{fault}; {reply.get('answerability')} {[line[:70] for line in shown[:6]]}")


def _faults(expect: Json, reply: Json, items: list[Json], shown: list[str]) -> Iterator[str]:
    for what, wanted in expect.items():
        many: list[Any] = wanted if isinstance(wanted, list) else [wanted]
        match what:
            case "first":
                yield from (f"{part!r} is not in the first" for part in many if part not in "".join(shown[:1]))
            case "any":
                yield from (f"{part!r} is in none" for part in many if not any(part in line for line in shown))
            case "absent":
                yield from (f"{part!r} is there" for part in many if any(part in line for line in shown))
            case "order":
                at = [next((n for n, line in enumerate(shown) if part in line), -1) for part in many]
                if -1 in at or at != sorted(at):
                    yield f"{many} stand at {at}"
            case "answerability":
                if reply["answerability"] not in many:
                    yield f"answerability is not {many}"
            case "count" | "min" | "max":
                number = len(items)
                if not {"count": number == wanted, "min": number >= wanted, "max": number <= wanted}[what]:
                    yield f"{number} items, {what} is {wanted}"
            case "context_holds":
                yield from (f"{part!r} is not in the context" for part in many if part not in reply["context"]["text"])
            case "degraded":
                if bool(reply["degraded"]) != wanted:
                    yield f"degraded: {reply['degraded']}"
            case "status_of":
                for part, status in wanted.items():
                    seen = [item["status"] for item, line in zip(items, shown, strict=True) if part in line]
                    if not seen or not set(seen) <= set(status if isinstance(status, list) else [status]):
                        yield f"status of {part!r}: {seen}, not {status!r}"
            case _:
                name = what.removesuffix("_of")
                if name not in _TIMES:
                    raise ValueError(f"no such expectation: {what}")
                for part, prefix in wanted.items():
                    seen = [_utc(item[name]) for item, line in zip(items, shown, strict=True) if part in line]
                    if not any(moment.startswith(prefix) for moment in seen):
                        yield f"{name} of {part!r}: {seen}, not {prefix}"


def _utc(text: str | None) -> str:
    return "none" if text is None else datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
