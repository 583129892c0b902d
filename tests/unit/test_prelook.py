"""The pre-look: what is worth a model's call, and what is not."""

import pytest

from taishi.ingest.prelook import asks_to_remember, signals, worth
from tests.support.model_side import utterance

WORTH = """I moved to Oslo in May
Remember: the gate code changed
请记住我的鞋码
My sister Clara is a nurse
I really can't stand loud places
We switched the project to Postgres
我上周买了一辆自行车
他妹妹在医院上班
我们公司的前台叫小周
我特别爱吃辣
The meeting is on the 14th floor, room 1403
从下个月开始我不再喝咖啡了
We met Zoltan at the harbour
I own two kayaks
Can you help me plan a week in Norway now that I have moved there with my two dogs and my wife?""".splitlines()
NOT_WORTH = """What is the capital of that country?
为什么天是蓝的？
Sounds wonderful!
太棒了吧
Could you say it again?
帮我翻译一下这句话
How does that work?
真有意思
Write a poem about the sea
好的，没问题""".splitlines()


@pytest.mark.parametrize("text", WORTH)
def test_worth_a_call(text: str) -> None:
    assert worth(utterance(text))


@pytest.mark.parametrize("text", NOT_WORTH)
def test_not_worth_a_call(text: str) -> None:
    assert not worth(utterance(text)), signals(utterance(text))


def test_a_name_counts_once() -> None:
    assert signals(utterance("So that is what Zoltan wants of them")) == {"name"}
    before = [utterance("Zoltan came by")]
    assert not worth(utterance("So that is what Zoltan wants of them"), before)
    assert not worth(utterance("So that is what Zoltan wants of them", speaker="Zoltan"))


def test_more_signals_may_be_asked_for_but_a_request_to_remember_is_enough() -> None:
    assert not worth(utterance("So that is what Zoltan wants of them"), least=2)
    assert worth(utterance("记住门牌"), least=9)
    assert asks_to_remember("please don't forget the keys")
    assert not asks_to_remember("a memorable day")
    assert worth(utterance("."), least=0)
