from pathlib import Path

import pytest

from taishi.deploy.settings import Address, load_settings
from taishi.ingest.errors import ConfigurationError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import os

    for name in [n for n in os.environ if n.startswith("TAISHI_") or n == "REDIS_URL"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TAISHI_HOME", str(tmp_path))
    return tmp_path


def test_each_value_knows_its_source(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "taishi.toml").write_text('durability = "always"\npartitions = 2\nread_addr = "127.0.0.1:1"\n')
    monkeypatch.setenv("TAISHI_PARTITIONS", "8")
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:7/0")
    settings = load_settings(read_addr="127.0.0.1:2")
    assert (settings.durability, settings.source_of("durability")) == ("always", str(home / "taishi.toml"))
    assert (settings.partitions, settings.source_of("partitions")) == (8, "TAISHI_PARTITIONS")
    assert (settings.read_addr, settings.source_of("read_addr")) == ("127.0.0.1:2", "command line")
    assert (settings.redis_url, settings.source_of("redis_url")) == ("redis://127.0.0.1:7/0", "REDIS_URL")
    assert (settings.encryption, settings.source_of("encryption")) == ("on", "default")
    assert (settings.home, settings.source_of("home")) == (home, "TAISHI_HOME")
    assert settings.keystore == f"sqlite:///{home}/keys/keys.db"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TAISHI_PARTITIONS", "0"), ("TAISHI_WRITE_ADDR", "8460"),
        ("TAISHI_ENCRYPTION", "maybe"), ("TAISHI_API_KEYS", "[{"),
        ("TAISHI_API_KEYS", '[{"name": "a", "key": "short", "rights": ["query"]}]'),
    ],
)
def test_a_wrong_value_is_named_with_its_source_and_never_shown(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as raised:
        load_settings()
    assert name.removeprefix("TAISHI_").lower() in raised.value.message
    assert "short" not in raised.value.message


def test_a_file_may_name_only_what_exists(home: Path) -> None:
    (home / "taishi.toml").write_text('partition = 2\n')
    with pytest.raises(ConfigurationError, match=r"partition: no such setting \(from .*taishi.toml\)"):
        load_settings()


def test_only_loopback_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for addr in ("127.0.0.1:1", "localhost:1", "[::1]:1", "127.8.9.1:1"):
        load_settings(read_addr=addr).check_exposure()
    for addr in ("0.0.0.0:1", "10.0.0.7:1", "[::]:1", "memory.example:1"):
        with pytest.raises(ConfigurationError, match="without API keys"):
            load_settings(read_addr=addr).check_exposure()
    monkeypatch.setenv("TAISHI_API_KEYS", '[{"name": "a", "key": "0123456789abcdef0123", "rights": ["admin"]}]')
    load_settings(read_addr="0.0.0.0:1").check_exposure()


def test_clients_are_sent_where_a_server_can_be_reached() -> None:
    assert Address.parse("0.0.0.0:80").url == "http://127.0.0.1:80"
    assert Address.parse("[::]:80").url == "http://[::1]:80"
    assert load_settings(write_url="https://memory.example").write_base == "https://memory.example"


def test_channels_to_measure_without_are_named_and_known() -> None:
    assert load_settings().ablated == frozenset()
    assert load_settings(ablate="dense, recency").ablated == {"dense", "recency"}
    with pytest.raises(ConfigurationError, match="no channel is 'astrology'"):
        load_settings(ablate="dense,astrology")
