"""Redaction runs on every text at the door: no text may hold the write side up, and no shortcut may miss a secret."""

from __future__ import annotations

import time

import pytest

from taishi.ingest.redaction import redact

REPEATED = [
    "a-", "a.b", "1-", "1 ", "password ", "password        ", "password for xx yy ",
    "token of my a ", "把密码从", "密码是", "密码现在",
    "://a:", "a://", "eyJaaaaaaaaaa.", "sk-", "ghp_", "bearer ", "-----BEGIN PRIVATE KEY-----", "4111 1111 1111 1112 ",
]  # fmt: skip
LED = ["password", "password for ", "bearer", "密码", "-----BEGIN ", "a://"]


@pytest.mark.parametrize(
    "text", [*((part * 50_000)[:50_000] for part in REPEATED), *(head + " " * 50_000 for head in LED)]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.thread_time()
    redact(text)
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("push it with ghp_" + "Ab1" * 12, "token"),
        ("AUTHORIZATION: BEARER " + "Zx9_" * 8, "token"),
        ("connect to Postgres://svc:tr1ckY-pw@db/main", "password"),
        ("the PASSWORD for the router is t4nGerine!", "password"),
        ("门口的密码是 zq-8812-x", "password"),
        ("charge 4012 8888 8888 1881 please", "card"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "private_key"),
    ],
)
def test_a_secret_is_found_whatever_its_case(text: str, kind: str) -> None:
    cleaned, kinds = redact(text)
    assert kinds == (kind,) and cleaned != text
    assert redact(cleaned) == (cleaned, ())
