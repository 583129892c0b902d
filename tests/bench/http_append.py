"""Appends over HTTP: single events, encryption on, a real server, one write process, `wrk` as the load.

    python -P tests/bench/http_append.py [--clients 8] [--seconds 10] [--text 200]

Needs `wrk` (Debian: `apt-get install wrk`). Prints acknowledged events a second and latencies; checks at the end that
the log holds exactly as many events as were acknowledged (those still on their way when `wrk` stops may come on top).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from taishi.deploy.server import EmbeddedServer, find_binary
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog

PORT = 18460
LOAD = """
local body = %s
local count = 0
request = function()
  count = count + 1
  local namespace = 'bench-' .. (count %% 50)
  return wrk.format('POST', '/v1/events', {['content-type'] = 'application/json'}, body:gsub('NAMESPACE', namespace, 1))
end
local bad = 0
response = function(status) if status ~= 202 then bad = bad + 1; print('status ' .. status) end end
"""


def serve(redis_url: str, keys_url: str) -> None:
    """The write API in this process, until it is killed."""
    import uvicorn

    from taishi.commands.http import create_app
    from taishi.ingest.redaction import redact
    from taishi.ingest.registry import default_registry
    from tests.support.log_directory import LogDirectory

    keys = SqlAlchemyKeyStore(keys_url)
    log = ValkeyLog(redis_url, keys=keys)
    app = create_app(
        log=log, keys=keys, ledger=None, directory=LogDirectory(log),  # type: ignore[arg-type]
        registry=default_registry(), redact=redact,
    )  # fmt: skip
    uvicorn.run(app, port=PORT, loop="uvloop", http="httptools", access_log=False, log_level="warning")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--seconds", type=int, default=10)
    options.add_argument("--text", type=int, default=200, help="characters an event")
    options.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.serve:
        serve(*given.serve)
        return 0
    wrk = shutil.which("wrk")
    if wrk is None:
        print("wrk is not installed")
        return 2
    folder = Path(tempfile.mkdtemp(prefix="taishi-bench-"))
    server = EmbeddedServer(binary=find_binary().path, directory=folder / "valkey")
    server.prepare()
    keys_url = f"sqlite:///{folder}/keys.db"
    root = Path(__file__).resolve().parents[2]
    started = [subprocess.Popen(server.command(), stdout=subprocess.DEVNULL)]
    try:
        server.wait(seconds=10)
        environment = {**os.environ, "PYTHONPATH": str(root)}
        command = [sys.executable, "-P", __file__, "--serve", server.url, keys_url]
        started.append(subprocess.Popen(command, env=environment))
        wait_ready()
        text = ("the quick brown fox jumps over the lazy dog 0123456789 " * 2000)[: given.text]
        body = json.dumps({"events": [{"namespace": "NAMESPACE", "content": text, "session": "s"}]})
        script = folder / "load.lua"
        script.write_text(LOAD % json.dumps(body))
        measured = []
        before = 0.0
        for seconds in (2, given.seconds):  # the first one warms up
            before = cpu_seconds(started[1].pid)
            load = [wrk, "-t1", f"-c{given.clients}", f"-d{seconds}s", "--latency", "-s", str(script)]
            measured.append(
                subprocess.run([*load, f"http://127.0.0.1:{PORT}"], capture_output=True, text=True, check=True).stdout
            )
        spent = cpu_seconds(started[1].pid) - before
        print(measured[-1])
        requests = int((re.search(r"(\d+) requests in", measured[-1]) or ["", "1"])[1])
        print(f"write process: {spent / requests * 1e6:.0f} µs of CPU a request, {spent:.1f} s in all")
        acknowledged = sum(int(found[1]) for out in measured if (found := re.search(r"(\d+) requests in", out)))
        refused = sum(out.count("status ") for out in measured)
        keys = SqlAlchemyKeyStore(keys_url)
        log = ValkeyLog(server.url, keys=keys)
        stored = sum(log.head(partition) for partition in range(log.partitions))
        print(f"acknowledged {acknowledged - refused}, refused {refused}, stored {stored}")
        return 0 if 0 <= stored - acknowledged + refused <= 2 * given.clients else 1
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
        shutil.rmtree(folder)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_ready() -> None:
    for _ in range(200):
        try:
            if httpx.get(f"http://127.0.0.1:{PORT}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise SystemExit("the write API did not come up")


if __name__ == "__main__":
    sys.exit(main())
