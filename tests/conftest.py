"""Fixtures that more than one kind of test needs: a real server, empty for each test, and one that can be killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.valkey_server import ValkeyServer


@pytest.fixture(scope="session")
def valkey_session() -> Iterator[ValkeyServer]:
    server = ValkeyServer().start()
    yield server
    server.stop()


@pytest.fixture
def valkey(valkey_session: ValkeyServer) -> ValkeyServer:
    """An empty server. It is shared: do not stop it or change its settings."""
    with valkey_session.client() as client:
        client.flushall()
    return valkey_session


@pytest.fixture
def own_valkey() -> Iterator[ValkeyServer]:
    """A server of the test's own: to kill -9, restart and set up as it likes."""
    server = ValkeyServer().start()
    yield server
    server.stop()
