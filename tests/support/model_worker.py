"""An RQ worker process that reads with the model extractor and pays from a ledger.

Usage: model_worker.py LOG_URL JOBS_URL KEYS_URL LEDGER MODEL_URL [DAILY_CAP]
"""

import sys
from decimal import Decimal
from pathlib import Path

from taishi.ingest.answers import Answers
from taishi.ingest.budget import Caps, Prices, pico
from taishi.ingest.extraction import Extraction
from taishi.ingest.keys import KeyStore
from taishi.ingest.log import EventLog
from taishi.ingest.model import ModelExtractor
from taishi.ingest.model.breaker import Breaker
from taishi.ingest.model.calls import Caller, Patience
from taishi.ingest.model.chat import Chat
from taishi.ingest.model.provider import provider
from taishi.ingest.registry import default_registry
from taishi.ingest.rq_jobs import run_worker
from taishi.ingest.slots import Fingerprints
from taishi.ingest.sqlalchemy_budget import SqlAlchemyBudget
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog

PRICE = Decimal("0.000001")


def extraction(log: EventLog, keys: KeyStore, *, ledger: Path, model_url: str, cap: str = "1000") -> Extraction:
    made = provider(
        model="m", base_url=model_url, seconds=1.0, most_out=100,
        prices=Prices.per_million(PRICE, PRICE),
    )
    budget = SqlAlchemyBudget(ledger, Caps(daily=pico(Decimal(cap))))
    caller = Caller(
        Chat(made), budget, patience=Patience(tries=2, first=0.01, longest=0.02),
        breaker=Breaker(after=3, first=0.1, longest=0.2),
    )
    return Extraction(
        log,
        ModelExtractor(caller, seconds=4.0),
        default_registry(),
        Fingerprints(keys.secret("fingerprint")),
        seconds=6.0,
        at_once=1,
        answers=Answers(keys),
    )


if __name__ == "__main__":
    log_url, jobs_url, keys_url, ledger_file, url, *caps = sys.argv[1:]
    key_store = SqlAlchemyKeyStore(keys_url)
    event_log = ValkeyLog(log_url, keys=key_store, partitions=2)
    made = extraction(event_log, key_store, ledger=Path(ledger_file), model_url=url, cap=caps[0] if caps else "1000")
    run_worker(lambda _: made, jobs_url)
