"""An RQ worker process for scenarios, with an extractor simple enough to foresee.

It reads "X likes Y" wherever it stands, breaks on the word `poison`, dies on `deadly`, never ends on `endless`; on
`misquote` it claims to quote what nobody said, on `unwritable` it says what no log takes.

Usage: extraction_worker.py LOG_URL JOBS_URL KEYS_URL SECONDS_PER_WINDOW
"""

import os
import re
import signal
import sys
import time

from taishi.ingest.claims import Claim, Quote
from taishi.ingest.extraction import Extraction
from taishi.ingest.extractor import Decision, Window
from taishi.ingest.extractor import Extraction as Reading
from taishi.ingest.registry import parse_registry
from taishi.ingest.rq_jobs import run_worker
from taishi.ingest.slots import Fingerprints
from taishi.ingest.sqlalchemy_keys import SqlAlchemyKeyStore
from taishi.ingest.valkey_log import ValkeyLog

_LIKES = re.compile(r"(\w+) likes (\w+)")


class LikesExtractor:
    name = "likes"
    version = "1"

    def extract(self, window: Window) -> Reading:
        claims, decisions = [], []
        for said in window.utterances:
            if "poison" in said.text:
                raise ValueError(f"cannot read {said.text!r}")
            if "deadly" in said.text:
                os.kill(os.getpid(), signal.SIGKILL)
            if "endless" in said.text:
                while True:
                    time.sleep(0.01)
            for match in _LIKES.finditer(said.text):
                start, end = (900, 910) if "misquote" in said.text else match.span()
                quote = Quote(event_id=said.event_id, start=start, end=end, text=match[0])
                rule = "\ud800" if "unwritable" in said.text else "likes"
                who = said.speaker if match[1] == "I" else match[1]
                if match[1] == "He" and window.context:
                    who = window.context[-1].text.split()[0]
                claims.append(Claim(subject=who, predicate="likes", value=match[2], quote=quote, rule=rule))
            if not claims:
                decisions.append(Decision(event_id=said.event_id, reason="nothing_said"))
        return Reading(claims=claims, decisions=decisions)


def extraction(log: ValkeyLog, keys: SqlAlchemyKeyStore, *, seconds: float = 10.0) -> Extraction:
    return Extraction(
        log,
        LikesExtractor(),
        parse_registry("[predicates.likes]"),
        Fingerprints(keys.secret("fingerprint")),
        seconds=seconds,
    )


if __name__ == "__main__":
    log_url, jobs_url, keys_url, limit = sys.argv[1:]
    key_store = SqlAlchemyKeyStore(keys_url)
    made = extraction(ValkeyLog(log_url, keys=key_store, partitions=2), key_store, seconds=float(limit))
    run_worker(lambda _: made, jobs_url)
