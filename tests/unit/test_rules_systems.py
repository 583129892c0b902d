"""Systems: what was so then and what is so now, in which slot, and words that say how something has to be."""

from __future__ import annotations

import pytest

from taishi.ingest.instants import render
from taishi.ingest.registry import default_registry
from taishi.ingest.slots import slot_parts
from tests.support.rules_cases import claims, extract, said


def _slot(text: str) -> tuple[str, ...]:
    [claim] = claims(text)
    return slot_parts("n", claim, default_registry())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("geo-7 当前版本是 v1.0", "geo-7 服务 当前版本是 v1.1"),
        ("geo-7 服务 当前版本是 v1.1", "geo-7 的 API 服务 当前版本是 v1.2"),
        ("geo-7 的配置版本是 v1.0", "geo-7 现在运行 release v1.2"),
        ("geo-7 is on v1.0.", "The geo-7 service is on v1.1."),
        ("geo-7's API service is on v1.1.", "geo-7 当前版本是 v1.2"),
        ("Redis 服务的端口是 6380", "Redis 的端口改成 6381"),
        ("geo-7 的 API 服务 当前状态为 healthy", "geo-7 的 API 服务 当前 unhealthy"),
        ("geo-7 当前版本是 v1.0", "geo-7 的版本号已撤销"),
        ("The timeout of geo-7 is 30s.", "geo-7's timeout was removed."),
        ("geo-7 当前 running", "geo-7 并不是 running 状态"),
    ],
)
def test_one_system_has_one_slot_for_its_version_its_settings_and_its_state(earlier: str, later: str) -> None:
    assert _slot(earlier) == _slot(later)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("geo-7 的 blue 部署当前版本是 v1.0", "geo-7 的 green 部署当前版本是 v1.0"),
        ("geo-7 实例 a-1 当前版本是 v1.0", "geo-7 当前版本是 v1.0"),
        ("geo-7 的 API 服务 当前 healthy", "geo-7 的 worker 服务 当前 healthy"),
        ("geo-7 的 API 服务 当前 healthy", "geo-7 当前 healthy"),
        ("geo-7's blue deployment is on v1.0.", "geo-7 is on v1.0."),
        ("geo-7's worker is stopped.", "geo-7's scheduler is stopped."),
    ],
)
def test_parts_of_a_system_have_slots_of_their_own(one: str, other: str) -> None:
    assert _slot(one) != _slot(other)


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("补录：2026 年 6 月 5 日时 geo-7 当前版本是 v1.0", "2026-06-04T16:00:00Z", None),
        ("2026年6月5日时网关的版本是v1", "2026-06-04T16:00:00Z", None),
        ("6月5号的时候 geo-7 的版本是 v1.0", "2026-06-04T16:00:00Z", None),
        ("昨天 geo-7 的版本还是 v1.0", "2026-07-30T16:00:00Z", None),
        ("Backfill: on June 5, 2026 geo-7's current version was v1.0.", "2026-06-04T16:00:00Z", None),
        ("As of June 5, 2026, geo-7 was on v1.0.", "2026-06-04T16:00:00Z", None),
        ("历史记录：2023 年时 geo-7 当前版本是 v0.4", "2022-12-31T16:00:00Z", "2023-12-31T16:00:00Z"),
        ("2026年5月时 geo-7 的版本是 v0.8", "2026-04-30T16:00:00Z", "2026-05-31T16:00:00Z"),
        ("去年 geo-7 的版本是 v0.6", "2024-12-31T16:00:00Z", "2025-12-31T16:00:00Z"),
        ("In 2023, geo-7 was on v0.4.", "2022-12-31T16:00:00Z", "2023-12-31T16:00:00Z"),
        ("Back in 2023 geo-7's version was v0.4.", "2022-12-31T16:00:00Z", "2023-12-31T16:00:00Z"),
        ("geo-7 的版本去年升级到了 v0.6", "2024-12-31T16:00:00Z", None),
        ("Last month geo-7 was upgraded to v0.7.", "2026-06-30T16:00:00Z", None),
        ("2025年 geo-7 的端口改成了 9090", "2024-12-31T16:00:00Z", None),
    ],
)
def test_what_is_noted_of_a_day_holds_from_then_and_of_a_longer_time_only_then(text: str, begins: str, ends: str | None) -> None:
    [claim] = claims(text)
    assert (render(claim.valid_from), render(claim.valid_to)) == (begins, ends)


@pytest.mark.parametrize(
    ("text", "predicate", "begins"),
    [
        ("去年，我搬到了厦门", "lives_in", "2024-12-31T16:00:00Z"),
        ("2021年，我加入了海尔集团", "works_at", "2020-12-31T16:00:00Z"),
        ("今年3月，我开始学陶艺", "learning", "2026-02-28T16:00:00Z"),
        ("上个月，我们把 Redis 升级到了 7.2", "version", "2026-06-30T16:00:00Z"),
        ("从2019年，我就住在惠州", "lives_in", "2018-12-31T16:00:00Z"),
        ("Last year, I moved to Porto.", "lives_in", "2024-12-31T16:00:00Z"),
        ("In March 2026, we upgraded Redis to v7.2.", "version", "2026-02-28T16:00:00Z"),
        ("On June 1, 2026, I started working at Initech.", "works_at", "2026-05-31T16:00:00Z"),
        ("Since 2020, I live in Oslo.", "lives_in", "2019-12-31T16:00:00Z"),
        ("By the way, last month, I joined Globex Corporation.", "works_at", "2026-06-30T16:00:00Z"),
        ("I started working at the library in May.", "works_at", "2026-04-30T16:00:00Z"),
    ],
)
def test_a_time_that_stands_alone_in_front_is_the_statements(text: str, predicate: str, begins: str) -> None:
    [claim] = claims(text)
    assert (claim.predicate, render(claim.valid_from), claim.valid_to) == (predicate, begins, None)
    assert claim.quote is not None
    assert ("，" in claim.quote.text or "," in claim.quote.text) == ("，" in text or "," in text)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("Today, I live in Parma.", "lives_in"),
        ("These days, I work at Initech.", "works_at"),
        ("最近，我住在宿舍", "lives_in"),
        ("In the past, I lived in Parma.", "lived_in"),
    ],
)
def test_what_in_front_is_no_date_bounds_nothing(text: str, predicate: str) -> None:
    [claim] = claims(text)
    assert (claim.predicate, render(claim.valid_from), claim.valid_to) == (predicate, "2026-08-01T01:00:00Z", None)


@pytest.mark.parametrize(
    "text",
    [
        "按要求 geo-7 必须保持 v1.0",
        "要求 geo-7 的版本维持在 v1.0",
        "规定 geo-7 一律用 v1.0",
        "geo-7 不得低于 v1.0",
        "geo-7 必须停在 v1.0",
        "geo-7 must stay on v1.0.",
        "geo-7 shall run v1.0.",
        "geo-7 is required to stay at v1.0.",
        "The requirement is geo-7 at v1.0.",
        "geo-7 has to remain on v1.0.",
    ],
)
def test_how_something_has_to_be_is_not_how_it_is(text: str) -> None:
    found = extract(said(text))
    assert [claim.predicate for claim in found.claims] == []
    assert [decision.reason for decision in found.decisions] == ["required"]
