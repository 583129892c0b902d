"""The model's settings, its wiring, and the commands that an operator has."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from taishi.deploy.cli.app import app
from taishi.deploy.cli.doctor import _shown
from taishi.deploy.extraction import keeping, ledger_path, make_extractor, open_ledger, provider_of, reading
from taishi.deploy.generations import ensure_generation
from taishi.deploy.settings import Settings, load_settings
from taishi.ingest.budget import OverBudget, Spent, pico
from taishi.ingest.errors import ConfigurationError
from taishi.ingest.instants import SECOND
from taishi.ingest.outbox import Outbox
from taishi.ingest.outbox_fold import Failure, OpenWindow
from taishi.ingest.retries import NO_RETRIES, PATIENT, RetrySchedule
from taishi.ingest.rq_link import JOB_SECONDS
from taishi.ingest.spending import percentile
from taishi.ingest.windows import AT_ONCE, GATHERED, Window

TOML = """
extractor = "model"
[model]
preset = "dashscope"
name = "some-model"
price_in = 0.15
price_out = 0.6
daily_cap = 2.5
namespace_cap = "0.5"
timeout = 90
extra = { enable_thinking = false }
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import os

    for name in [n for n in os.environ if n.startswith("TAISHI_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TAISHI_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    (home / "taishi.toml").write_text(TOML)
    monkeypatch.setenv("TAISHI_MODEL__API_KEY", "a-very-secret-key")
    return load_settings()


def test_a_block_comes_from_the_file_and_its_key_from_the_environment(settings: Settings) -> None:
    block = settings.model
    assert block is not None
    made = provider_of(block)
    assert (made.model, made.api_key, made.mode, made.seconds) == ("some-model", "a-very-secret-key", "json_object", 90)
    assert made.base_url.startswith("https://dashscope.")
    assert made.prices is not None
    assert made.prices.of(1_000_000, 0) == pico(Decimal("0.15"))
    assert made.extra == {"enable_thinking": False}
    assert hash(settings) == hash(load_settings())


def test_a_secret_is_never_shown(settings: Settings) -> None:
    assert "very-secret" not in repr(settings)
    shown = _shown(settings.model)
    assert "very-secret" not in shown
    assert "api_key=set" in shown


@pytest.mark.parametrize(
    "changed",
    [
        'preset = "nobody"', 'base_url = "ftp://here"', "price_in = -1", "price_in = 0.0000001", "daily_cap = nan",
        "timeout = 0", "temperature = 9", "unknown = 1", 'mode = "prose"',
    ],
)  # fmt: skip
def test_a_wrong_value_is_named(home: Path, changed: str) -> None:
    kept = [line for line in TOML.splitlines() if line.partition(" ")[0] != changed.partition(" ")[0]]
    (home / "taishi.toml").write_text("\n".join([*kept, changed]))
    with pytest.raises(ConfigurationError, match=rf"model\.{changed.partition(' ')[0]}"):
        load_settings()


def test_what_must_be_said_is_asked_for(home: Path) -> None:
    for toml in ('extractor = "model"', 'extractor = "somebody"', 'extractor = "model"\n[model]\nname = "m"'):
        (home / "taishi.toml").write_text(toml)
        with pytest.raises(ConfigurationError):
            load_settings()


def test_windows_are_gathered_for_a_model_and_all_of_a_job_s_fit_into_its_time(settings: Settings) -> None:
    made = keeping(settings)
    assert (made["policy"], made["retries"]) == (GATHERED, PATIENT)
    assert made["most_windows"] * reading(settings)["seconds"] < JOB_SECONDS
    assert make_extractor(settings).name == "model"
    rules = Settings(home=settings.home)
    assert (keeping(rules), reading(rules)) == ({"policy": AT_ONCE, "retries": NO_RETRIES}, {})
    assert make_extractor(rules).name == "rules"


def test_without_prices_nothing_is_bought(home: Path) -> None:
    (home / "taishi.toml").write_text('extractor = "model"\n[model]\nname = "m"\nbase_url = "http://127.0.0.1:1/v1"\n')
    block = load_settings().model
    assert block is not None
    assert provider_of(block).prices is None
    assert block.daily_cap == 1


def test_retries_come_later_and_later_and_end() -> None:
    def at(failures: int, error: str = "model.truncated", window_id: str = "0" * 32) -> int | None:
        return PATIENT.retry_at(window_id=window_id, error=error, failures=failures, failed_at=0)

    times = [at(n) for n in range(1, 9)]
    assert times[:3] == [10 * SECOND, 60 * SECOND, 300 * SECOND]
    assert times[7] is None
    assert at(1, window_id="ffff" + "0" * 28) == 12 * SECOND
    assert at(1, error="ValueError") is None
    assert RetrySchedule().retry_at(window_id="00", error="model.x", failures=1, failed_at=0) is None


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_the_report_adds_up(settings: Settings) -> None:
    assert "no model calls" in run("ops", "report").output
    ledger = open_ledger(settings)
    for i in range(1, 5):
        taken = ledger.reserve(namespace="n", model="some-model", most=pico(Decimal("0.01")))
        outcome = "ok" if i < 4 else "model.truncated"
        ledger.settle(taken, Spent(outcome=outcome, milliseconds=i * 100, cost=10**9, tokens_in=100, tokens_out=10))
    ledger.reserve(namespace="other", model="some-model", most=10**9)
    with pytest.raises(OverBudget):
        ledger.reserve(namespace="other", model="some-model", most=pico(Decimal(1)))
    ledger.close()
    report = json.loads(run("ops", "report", "--json").output)
    row, other = report["rows"]
    assert row == {
        "day": datetime.now(UTC).date().isoformat(), "namespace": "n", "model": "some-model", "calls": 4, "failed": 1,
        "failures": {"model.truncated": 1}, "refused": {}, "under_way": 0, "tokens_in": 400, "tokens_out": 40,
        "cost": "0.004", "latency_ms": {"p50": 200, "p95": 400, "p99": 400},
    }
    assert (other["under_way"], other["refused"], other["latency_ms"]["p50"]) == (1, {"namespace": 1}, None)
    assert (report["total"]["calls"], report["total"]["cost"]) == (5, "0.005")
    table = run("ops", "report").output
    for word in ("some-model", "1 model.truncated", "1 namespace", "0.004", "total"):
        assert word in table
    assert [r["namespace"] for r in json.loads(run("ops", "report", "-n", "n", "--json").output)["rows"]] == ["n"]


def test_percentiles_are_of_the_nearest_rank() -> None:
    assert [percentile(range(1, 101), q) for q in (50, 95, 99)] == [50, 95, 99]
    assert (percentile([7], 99), percentile([], 50)) == (7, None)


def test_dead_letters_are_listed_and_tried_again(home: Path) -> None:
    assert "there are no read models" in run("dead-letters").output  # nothing was ever started here
    ensure_generation(home)
    assert "nothing failed" in run("dead-letters").output
    path = home / "keeper" / "keeper.db"
    outbox = Outbox(path)
    with outbox.fold(1) as fold:
        for i, name in enumerate(("aa", "bb", "cc")):
            window = Window(window_id=name * 16, seqs=(i + 1,), context=())
            fold.add([OpenWindow(window=window, namespace=f"n{i}", zone=None)])
            schedule = PATIENT if name == "cc" else NO_RETRIES
            fold.fail(window.window_id, Failure(attempts=1, error="model.truncated", at=SECOND), schedule)
    items = json.loads(run("dead-letters", "--json").output)["items"]
    assert [(i["id"][:2], i["state"], i["retry_at"] is None, i["positions"]) for i in items] == [
        ("aa", "failed", True, ["p1:1"]), ("bb", "failed", True, ["p1:2"]), ("cc", "retrying", False, ["p1:3"]),
    ]  # fmt: skip
    assert "model.truncated" in run("dead-letters", "list", "-n", "n0").output
    assert "bb" not in run("dead-letters", "list", "-n", "n0").output
    assert run("dead-letters", "retry").exit_code == 2
    assert run("dead-letters", "retry", "aa", "--all").exit_code == 2
    missing = run("dead-letters", "retry", "dd" * 16)
    assert (missing.exit_code, "have not failed" in missing.output) == (1, True)
    assert json.loads(run("dead-letters", "retry", "aa" * 16, "--json").output) == {"retried": 1}
    assert json.loads(run("dead-letters", "retry", "--all", "--json").output) == {"retried": 2}
    assert outbox.counts() == {"pending": 3, "queued": 0, "failed": 0}
    assert outbox.retrying() == []
    outbox.dispose()


def test_a_keeper_s_file_of_an_older_version_is_folded_anew(home: Path) -> None:
    import sqlite3

    path = home / "keeper.db"
    old = sqlite3.connect(path)
    old.execute("CREATE TABLE windows (window_id TEXT)")
    old.execute("CREATE TABLE checkpoints (partition INTEGER PRIMARY KEY, seq INTEGER, digest BLOB)")
    old.execute("INSERT INTO checkpoints VALUES (0, 9, x'00')")
    old.commit()
    old.close()
    outbox = Outbox(path)
    assert (outbox.checkpoint(0).seq, outbox.counts()["pending"]) == (0, 0)
    outbox.dispose()
    assert not ledger_path(home).exists()
