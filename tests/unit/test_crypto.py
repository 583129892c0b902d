"""Sealed bodies: what opens them, and what does not."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taishi.ingest.crypto import is_encrypted, seal, unseal
from taishi.ingest.errors import LogDamaged

KEY, NONCE = bytes(range(32)), bytes(range(12))


@settings(deadline=None)
@given(st.binary(max_size=5000), st.binary(max_size=300))
def test_what_was_sealed_opens(body: bytes, header: bytes) -> None:
    sealed = seal(body, key=KEY, nonce=NONCE, header=header)
    assert is_encrypted(sealed)
    assert unseal(sealed, key=KEY, header=header) == body
    assert len(sealed) <= len(body) + 30


def test_the_stored_form_is_pinned() -> None:
    written = "01000102030405060708090a0b4779f46fa09db639b763e3eed0cb05adddfc9f144f095f5cb988010a4096e4"
    assert seal(b'{"text":"tea"}', key=KEY, nonce=NONCE, header=b"h").hex() == written
    assert unseal(bytes.fromhex(written), key=KEY, header=b"h") == b'{"text":"tea"}'


@pytest.mark.parametrize("size", [600, 3000, 100_000])
def test_long_words_are_shortened_before_they_are_encrypted(size: int) -> None:
    body = ("周三 the plumber comes at nine, bring the keys; " * size).encode()[:size]
    sealed = seal(body, key=KEY, nonce=NONCE, header=b"")
    assert len(sealed) < size * 0.8
    assert unseal(sealed, key=KEY, header=b"") == body
    noise = os.urandom(size)
    assert len(seal(noise, key=KEY, nonce=NONCE, header=b"")) == size + 30


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_changed_byte_is_noticed(place: int, flip: int) -> None:
    sealed = bytearray(seal(b'{"text":"the fence was painted"}' * 30, key=KEY, nonce=NONCE, header=b"head"))
    sealed[1 + place % (len(sealed) - 1)] ^= flip
    with pytest.raises(LogDamaged):
        unseal(bytes(sealed), key=KEY, header=b"head")


@pytest.mark.parametrize(
    ("key", "header"), [(KEY[::-1], b"head"), (KEY, b"heed"), (KEY, b""), (b"short", b"head"), (b"", b"head")]
)
def test_another_key_or_header_does_not_open(key: bytes, header: bytes) -> None:
    sealed = seal(b"words", key=KEY, nonce=NONCE, header=b"head")
    with pytest.raises(LogDamaged) as refused:
        unseal(sealed, key=key, header=header)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("cut", [0, 1, 5, 13, 20])
def test_a_cut_body_does_not_open(cut: int) -> None:
    sealed = seal(b"words", key=KEY, nonce=NONCE, header=b"head")[:cut]
    with pytest.raises(LogDamaged):
        unseal(sealed, key=KEY, header=b"head")


def test_open_bodies_are_told_from_sealed_and_from_unknown_ones() -> None:
    assert not is_encrypted(b'{"text":"open"}')
    for unknown in (b"", b"\x02abc", b"[1]", b" {}"):
        with pytest.raises(LogDamaged):
            is_encrypted(unknown)
