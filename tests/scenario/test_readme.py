"""The README word for word: `sh deploy/up` and every command after it, in order, against what it started."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
REQUESTS = re.findall(r"^curl -s 127\.0\.0\.1:(8460|8461)(/\S+) .*\n +-d '(.*)'$", README, flags=re.MULTILINE)
COMMANDS = [
    line.split(" #")[0].strip()
    for block in re.findall(r"^```sh\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]


def test_every_command_works_as_written(tmp_path: Path) -> None:
    assert COMMANDS[0] == "sh deploy/up"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TAISHI_") and k != "REDIS_URL"}
    environment = {
        **kept,
        "TAISHI_HOME": str(tmp_path / "home"),
        "TAISHI_WRITE_ADDR": f"127.0.0.1:{free_port()}",
        "TAISHI_READ_ADDR": f"127.0.0.1:{free_port()}",
    }
    up = subprocess.Popen(
        COMMANDS[0].split(), cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert up.stdout is not None
    told = ""
    try:
        while "Ctrl-C stops everything" not in told:
            line = up.stdout.readline()
            assert line, told
            told += line
        replies = {command: _run(command, environment) for command in COMMANDS[1:]}
        written, recalled = (_posted(*request, environment) for request in REQUESTS)
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait(timeout=60)
        up.stdout.close()
    assert written["accepted"] and recalled["items"][0]["value"] == "Bath"
    for question, answer in EXPECTED.items():
        command = next(c for c in replies if f'"{question}"' in c)
        assert answer in replies[command], replies[command]
    assert "Lisbon" in replies[next(c for c in replies if "--valid-at" in c)]
    assert "Porto" not in replies[[c for c in replies if "Where does Anna live" in c][-1]]


EXPECTED = {"What am I allergic to?": "peanuts", "我妹妹住在哪里？": "苏州", "Who won the chess final?": "no"}


def _run(command: str, environment: dict[str, str]) -> str:
    _settled(environment)
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def _posted(port: str, path: str, body: str, environment: dict[str, str]) -> dict[str, Any]:
    """What `curl` would be answered, which not every machine has."""
    address = environment["TAISHI_WRITE_ADDR" if port == "8460" else "TAISHI_READ_ADDR"]
    _settled(environment, namespace="demo")
    json = {"content-type": "application/json"}
    reply = httpx.post(f"http://{address}{path}", content=body, headers=json, timeout=10)
    assert reply.is_success, reply.text
    return dict(reply.json())


def _settled(environment: dict[str, str], *, namespace: str = "default") -> None:
    """A person types slower than Taishi reads; a test must wait."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        url = f"http://{environment['TAISHI_READ_ADDR']}/v1/status"
        status = httpx.get(url, params={"namespace": namespace}, timeout=10).json()
        if not (status["lag"] or status["pending_extractions"] or status["pending_vectors"]):
            return
        time.sleep(0.02)
    pytest.fail(f"not settled: {status}")
