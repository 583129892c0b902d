"""Calls to a model that goes wrong in every way: what is mended, what fails, what waits, and who pays."""

import json
import threading
import time
from collections.abc import Iterator

import pytest

from taishi.ingest.budget import OverBudget
from taishi.ingest.errors import AnswerRefused, ConfigurationError, Postponed
from taishi.ingest.model.breaker import Breaker
from taishi.ingest.model.chat import Chat
from taishi.ingest.model.pieces import calls_of
from taishi.ingest.model.provider import presets, provider
from tests.support.chat_server import BROKEN, MENDED, OUTAGES, WIRE, ChatServer
from tests.support.model_side import PRICES, Purse, extractor_of, provider_of, utterance, window

TEA = "Ann likes tea"


@pytest.fixture(scope="module")
def shared() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.stop()


@pytest.fixture
def server(shared: ChatServer) -> ChatServer:
    shared.fault = None
    shared.faults.clear()
    shared.asked.clear()
    shared.headers.clear()
    shared.usage = {"prompt_tokens": 100, "completion_tokens": 20}
    shared.answered = 0
    return shared


def test_one_call_reads_a_window(server: ChatServer) -> None:
    purse = Purse()
    found = extractor_of(server, purse).extract(window(TEA, "Bob came by", "I likes go"))
    assert [(c.subject, c.value, c.quote.event_id) for c in found.claims if c.quote] == [
        ("Ann", "tea", "event-1"), ("user", "go", "event-3"),
    ]  # fmt: skip
    assert [(d.event_id, d.reason) for d in found.decisions] == [("event-2", "nothing_read")]
    assert found.usage is not None
    assert {k: v for k, v in found.usage.items() if k != "ms"} == {
        "model": "m", "prompt": "1", "calls": 1, "tokens_in": 100, "tokens_out": 20, "cost": "0.00009",
    }
    assert (len(server.asked), server.headers[0]["authorization"]) == (1, "Bearer k")
    (settled,) = purse.settled
    assert (settled.outcome, settled.cost) == ("ok", PRICES.of(100, 20))
    assert purse.reserved[0] > PRICES.of(0, 4_096)


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
def test_the_answer_s_form_is_asked_for_as_it_is_offered(server: ChatServer, mode: str) -> None:
    extra = {"enable_thinking": False}
    asking = provider_of(server, mode=mode, extra=extra, tokens_field="max_x", most_out=77)
    body = json.loads(Chat(asking).request([], {"type": "object"}))
    assert (body["max_x"], body["enable_thinking"], body["temperature"]) == (77, False, 0)
    assert body["response_format"]["type"] == mode
    assert ("json_schema" in body["response_format"]) == (mode == "json_schema")


@pytest.mark.parametrize("fault", MENDED)
def test_what_is_certain_is_mended(server: ChatServer, fault: str) -> None:
    server.fault = fault
    found = extractor_of(server).extract(window(TEA))
    assert [c.value for c in found.claims] == ["tea"]


@pytest.mark.parametrize("fault", [*BROKEN, *WIRE, "header_drip", "refused"])
def test_an_answer_that_is_none_fails_with_what_was_said(server: ChatServer, fault: str) -> None:
    server.fault = fault
    purse = Purse()
    began = time.monotonic()
    with pytest.raises(AnswerRefused) as raised:
        extractor_of(server, purse).extract(window(TEA, "Bob likes go"))
    assert time.monotonic() - began < 5
    assert raised.value.code.startswith("model.")
    assert raised.value.usage is not None
    assert raised.value.usage["calls"] == len(purse.settled) == 1
    if fault not in ("empty", "blank", "hang_up", "header_drip", "bad_gzip"):
        assert raised.value.answer


def test_a_drip_costs_all_that_was_put_aside_and_a_counted_failure_what_it_took(server: ChatServer) -> None:
    for fault, cost in (("drip", None), ("cut_by_length", PRICES.of(100, 20)), ("two_objects", PRICES.of(100, 20))):
        server.fault = fault
        purse = Purse()
        with pytest.raises(AnswerRefused):
            extractor_of(server, purse).extract(window(TEA))
        assert purse.settled[0].cost == cost


@pytest.mark.parametrize("fault", OUTAGES)
def test_a_model_that_is_not_to_be_had_is_waited_for(server: ChatServer, fault: str) -> None:
    server.fault = fault
    purse = Purse()
    with pytest.raises(Postponed):
        extractor_of(server, purse, seconds=0.3 if fault == "silent" else 5.0).extract(window(TEA))
    tries = 1 if fault == "http_401" else 3
    assert (len(purse.settled), len(server.asked)) == (tries, tries)
    assert all((spent.cost is None) == (fault == "silent") for spent in purse.settled)


def test_nobody_there_is_an_outage_too() -> None:
    server = ChatServer()
    server.stop()
    with pytest.raises(Postponed, match="unreachable"):
        extractor_of(server).extract(window(TEA))


def test_a_short_outage_is_not_noticed(server: ChatServer) -> None:
    server.faults.extend(["http_503", "http_429"])
    assert extractor_of(server).extract(window(TEA)).usage["calls"] == 3  # type: ignore[index]


def test_while_the_model_is_down_it_is_left_alone(server: ChatServer) -> None:
    server.fault = "http_500"
    extractor = extractor_of(server)
    for _ in range(10):
        with pytest.raises(Postponed):
            extractor.extract(window(TEA))
    assert len(server.asked) == 6
    server.fault = None
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            assert extractor.extract(window(TEA)).claims
            break
        except Postponed:
            time.sleep(0.02)
    assert len(server.asked) <= 8


def test_a_model_that_says_when_to_come_back_is_not_asked_before(server: ChatServer) -> None:
    server.fault = "wait_an_hour"
    extractor = extractor_of(server)
    for _ in range(3):
        with pytest.raises(Postponed):
            extractor.extract(window(TEA))
    assert len(server.asked) == 1


def test_outages_between_answers_do_not_add_up(server: ChatServer) -> None:
    extractor = extractor_of(server)
    for _ in range(5):
        server.faults.extend(["http_503", "http_503"])
        assert extractor.extract(window(TEA)).claims


def test_a_drip_is_cut_off_where_no_signal_helps(server: ChatServer) -> None:
    """Outside of the main thread no timer interrupts: what comes is looked at as it comes."""
    server.fault = "drip"
    failed: list[str] = []

    def ask() -> None:
        try:
            extractor_of(server).extract(window(TEA))
        except AnswerRefused as e:
            failed.append(e.code)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(10)
    assert failed == ["model.too_slow"]


def test_the_breaker_opens_longer_each_time_and_closes_on_an_answer() -> None:
    now = [0.0]
    breaker = Breaker(after=2, first=1, longest=4, clock=lambda: now[0], chance=lambda: 0.0)
    pauses = []
    breaker.failed()
    assert breaker.open_for == 0
    for _ in range(4):
        breaker.failed()
        pauses.append(breaker.open_for)
        now[0] += breaker.open_for
    assert pauses == [1, 2, 4, 4]
    breaker.succeeded()
    breaker.failed()
    assert breaker.open_for == 0


@pytest.mark.parametrize("given", [{"prices": None}, {}])
def test_without_a_price_or_without_money_no_call_is_made(server: ChatServer, given: dict[str, None]) -> None:
    with pytest.raises(OverBudget):
        extractor_of(server, Purse(left=10), **given).extract(window(TEA))
    assert server.asked == []


def test_a_provider_that_counts_no_tokens_is_paid_in_full(server: ChatServer) -> None:
    for usage in (None, {"prompt_tokens": -1, "completion_tokens": 2}, {"prompt_tokens": True, "completion_tokens": 2}):
        server.usage = usage  # type: ignore[assignment]
        purse = Purse()
        extractor_of(server, purse).extract(window(TEA))
        assert purse.settled[0].cost is None


def test_a_window_half_read_when_its_time_is_over_goes_on_where_it_was(server: ChatServer) -> None:
    padding = "it rained all day and nobody went out, so that there was a lot of talk. " * 4
    long = " ".join(f"Ann likes tea{i}, {padding}" for i in range(100))
    server.faults.extend([None, "http_503", "http_503", "http_503"])
    extractor = extractor_of(server)
    with pytest.raises(Postponed):
        extractor.extract(window(long))
    found = extractor.extract(window(long))
    assert {c.value for c in found.claims} == {f"tea{i}" for i in range(100)}
    pieces = len(calls_of([utterance(long)]))
    assert len(server.asked) == pieces + 3
    assert found.usage["calls"] == pieces - 1  # type: ignore[index]


def test_presets_are_a_start_and_what_is_given_counts() -> None:
    assert set(presets()) == {"openai", "dashscope", "zhipu"}
    made = provider(model="m", preset="openai", base_url="http://here/v1", api_key="secret")
    assert (made.base_url, made.mode, made.tokens_field) == ("http://here/v1", "json_schema", "max_completion_tokens")
    assert "secret" not in repr(made)
    for given in ({"preset": "nobody"}, {}):
        with pytest.raises(ConfigurationError):
            provider(model="m", **given)  # type: ignore[arg-type]
