"""The read model of one partition: claims, beliefs, evidence, chains, tombstones and full text in one SQLite file.

Row ids carry meaning, so that a replay gives the same ones: a raw event's document id is `2 * seq`, a claim's is
`2 * seq + 1`, where seq is the position of the event that stated it. Instants are whole microseconds; `FOREVER` is an
end that has not come. Content columns (subject, text, ...) are NULL where the words were erased; fingerprints,
intervals and ids stay, so that history keeps its opaque rectangles.
"""

from __future__ import annotations

from typing import Final

FOLD_VERSION: Final = 10
"""Raise it when a fold or this schema changes what is stored: read models of another version are rebuilt by replay."""

PRAGMAS: Final = (
    "PRAGMA page_size = 8192",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA secure_delete = ON",
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA cache_size = -65536",
    "PRAGMA mmap_size = 1073741824",
    "PRAGMA temp_store = MEMORY",
)
BULK_PRAGMAS: Final = ("PRAGMA wal_autocheckpoint = 16000", "PRAGMA cache_size = -131072", "PRAGMA mmap_size = 0")
"""On top of these while a file is built that nobody reads."""

SCHEMA: Final = """
CREATE TABLE checkpoint (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL,            -- last event folded
    generation INTEGER NOT NULL,     -- the extraction generation that is folded
    chain BLOB NOT NULL,             -- hash chain value after it
    digest BLOB NOT NULL,            -- that event's digest: a rolled-back log shows here
    appended_at INTEGER NOT NULL DEFAULT 0,  -- the log's clock at it
    fold_version INTEGER NOT NULL,
    settings TEXT NOT NULL,          -- JSON: text analysis the index was built with
    scrubbed INTEGER NOT NULL DEFAULT 0  -- position up to which nothing forgotten is left on any page
);
CREATE TABLE namespaces (
    ns INTEGER PRIMARY KEY,          -- position of its first event
    name TEXT NOT NULL UNIQUE,
    timezone TEXT NOT NULL DEFAULT 'UTC',
    settings TEXT NOT NULL DEFAULT '{}',
    pending INTEGER NOT NULL DEFAULT 0,  -- raw events whose window has no extraction.completed yet
    failed INTEGER NOT NULL DEFAULT 0,
    exposed INTEGER NOT NULL DEFAULT 0,  -- recalls so far
    fadings INTEGER NOT NULL DEFAULT 0   -- events that took memories out of normal recall, or back into it
);
CREATE TABLE settings (              -- what callers set up a namespace with; its row and its dictionary follow from it
    seq INTEGER PRIMARY KEY, ns INTEGER NOT NULL, event_id TEXT NOT NULL, at INTEGER NOT NULL, key_id INTEGER NOT NULL,
    given TEXT NOT NULL              -- JSON object
);
CREATE INDEX settings_ns ON settings (ns);
CREATE TABLE dictionaries (          -- words that a namespace's texts are cut by besides the general ones
    ns INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,            -- the event that set them
    words TEXT NOT NULL              -- JSON array
);
CREATE TABLE events (                -- raw events
    seq INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    session TEXT,
    actor_id TEXT,
    role TEXT NOT NULL,
    origin TEXT NOT NULL,
    session_kind TEXT NOT NULL,
    said_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    key_id INTEGER NOT NULL,
    extraction TEXT NOT NULL DEFAULT 'pending',  -- pending | done | failed | skipped
    closing INTEGER,                 -- position of the event that says so
    extractor TEXT,                  -- name@version of what read it
    decision TEXT,                   -- why it became no claim, or the error
    erased_at INTEGER,
    kept_from INTEGER NOT NULL,      -- when the log took it in, imported or not
    archived_at INTEGER,             -- out of the index, since all that was drawn from it is archived
    speaker TEXT,                    -- display name; NULL where it is the user's own
    text TEXT,
    metadata TEXT                    -- JSON object
);
CREATE UNIQUE INDEX events_id ON events (event_id, ns);
CREATE INDEX events_session ON events (ns, session, seq);
CREATE INDEX events_pending ON events (ns, seq) WHERE extraction = 'pending';
CREATE TABLE slots (
    slot INTEGER PRIMARY KEY,
    ns INTEGER NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,
    last_known INTEGER NOT NULL,     -- known instant, source and seq of the last operation in order
    last_source INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    subject TEXT,                    -- normalised; with `rest` what it is about in words, NULL where all were erased
    rest TEXT                        -- predicate, key qualifiers, near form of a many-valued object
);
CREATE INDEX slots_joint ON slots (ns, subject, rest) WHERE rest IS NOT NULL;
CREATE TABLE claims (
    seq INTEGER PRIMARY KEY,         -- position of the event that states it
    ns INTEGER NOT NULL,
    claim_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    slot INTEGER NOT NULL,
    value_fp TEXT NOT NULL,
    negates INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER NOT NULL,
    to_inferred INTEGER NOT NULL,
    known_from INTEGER NOT NULL,
    source INTEGER NOT NULL,         -- position of the event whose words state it (its own where stated outright)
    recorded_at INTEGER NOT NULL,
    strength INTEGER NOT NULL,
    correction INTEGER NOT NULL,
    from_inferred INTEGER NOT NULL,  -- nobody said when it began: valid_from is the moment of speech
    succeeds INTEGER NOT NULL,       -- holds only where it takes another claim's place
    generation INTEGER,
    key_id INTEGER NOT NULL,
    made_from INTEGER,               -- position of the claim whose words a command took over
    about TEXT,                      -- keyed fingerprint of its subject
    removed_at INTEGER,              -- known instant from which it is not believed
    removed_why TEXT,                -- wrong | retracted | forgotten
    removed_seq INTEGER,             -- position of the event that removed it
    kept_from INTEGER NOT NULL,      -- when the log took in the words (last of them): fading counts from here
    expired_at INTEGER, expired_seq INTEGER,    -- from when on it is taken to be over; the event that says so
    archived_at INTEGER, archived_seq INTEGER,  -- out of normal recall
    faded_why TEXT,                             -- ttl | faded | capacity
    erased_at INTEGER,
    subject TEXT, subject_key TEXT,  -- as said; normalised
    predicate TEXT, value TEXT, negated INTEGER, qualifiers TEXT,
    modality TEXT, text TEXT, speaker TEXT,
    importance REAL, own_importance REAL, confidence REAL,  -- as it weighs; as it was stated with
    occurs_from INTEGER, occurs_to INTEGER, grain TEXT, temporary INTEGER,
    rule TEXT
);
CREATE INDEX claims_ns ON claims (ns);       -- lists, newest first
CREATE INDEX claims_id ON claims (claim_id, ns);
CREATE INDEX claims_slot ON claims (slot, value_fp, seq);
CREATE INDEX claims_made_from ON claims (made_from) WHERE made_from IS NOT NULL;
CREATE INDEX claims_subject ON claims (ns, subject_key, predicate);
CREATE INDEX claims_predicate ON claims (ns, predicate);
CREATE INDEX claims_faded ON claims (ns, seq) WHERE faded_why IS NOT NULL;
CREATE TABLE subjects (              -- names that claims speak of, with how many live ones, and since when
    ns INTEGER NOT NULL, subject_key TEXT NOT NULL, claims INTEGER NOT NULL,
    known_from INTEGER NOT NULL, seq INTEGER NOT NULL,   -- the least of them all
    PRIMARY KEY (ns, subject_key)
) WITHOUT ROWID;
CREATE TABLE beliefs (               -- rectangles believed now: known_to is FOREVER
    claim INTEGER NOT NULL, slot INTEGER NOT NULL,
    valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL, known_from INTEGER NOT NULL,
    accord INTEGER NOT NULL,         -- position of the resolution by which it holds beside others; 0: none
    PRIMARY KEY (slot, valid_to, valid_from, claim)
) WITHOUT ROWID;
CREATE INDEX beliefs_claim ON beliefs (claim);
CREATE TABLE history (               -- rectangles believed once
    slot INTEGER NOT NULL, claim INTEGER NOT NULL,
    valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,
    known_from INTEGER NOT NULL, known_to INTEGER NOT NULL, accord INTEGER NOT NULL,
    PRIMARY KEY (slot, known_to, claim, valid_from)
) WITHOUT ROWID;
CREATE INDEX history_claim ON history (claim);
CREATE TABLE chains (                -- what took whose place, by which rule
    slot INTEGER NOT NULL, known_at INTEGER NOT NULL,
    old_claim INTEGER NOT NULL, new_claim INTEGER,  -- new_claim NULL: removed without a successor
    valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL, rule TEXT NOT NULL
);
CREATE INDEX chains_slot ON chains (slot, known_at);
CREATE INDEX chains_old ON chains (old_claim);
CREATE INDEX chains_new ON chains (new_claim);
CREATE TABLE resolutions (           -- conflicts that a caller settled
    seq INTEGER PRIMARY KEY, ns INTEGER NOT NULL, slot INTEGER NOT NULL, event_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    winner TEXT                      -- claim id; NULL: what was contested coexists
);
CREATE INDEX resolutions_slot ON resolutions (slot);
CREATE TABLE standing (              -- what callers think of a memory, how it was used and has faded, by its id
    ns INTEGER NOT NULL, memory_id TEXT NOT NULL,
    confirmations INTEGER NOT NULL DEFAULT 0, confirmed_at INTEGER,
    helpful INTEGER NOT NULL DEFAULT 0, unhelpful INTEGER NOT NULL DEFAULT 0,
    reads INTEGER NOT NULL DEFAULT 0, read_at INTEGER,  -- days on which a recall showed it, and the last of these times
    expired_at INTEGER, expired_seq INTEGER, archived_at INTEGER, archived_seq INTEGER, faded_why TEXT,
    revived_at INTEGER,
    PRIMARY KEY (ns, memory_id)
) WITHOUT ROWID;
CREATE TABLE uses (                  -- how it was used, as of then: `standing` after the event at `seq`
    ns INTEGER NOT NULL, memory_id TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
    confirmations INTEGER NOT NULL, known_at INTEGER, read_at INTEGER, reads INTEGER NOT NULL,
    helpful INTEGER NOT NULL, unhelpful INTEGER NOT NULL,
    PRIMARY KEY (ns, memory_id, seq)
) WITHOUT ROWID;
CREATE TABLE exposures (             -- what the last recalls showed: ids, JSON
    ns INTEGER NOT NULL, place INTEGER NOT NULL, exposure TEXT NOT NULL, at INTEGER NOT NULL, items TEXT NOT NULL,
    seq INTEGER NOT NULL,            -- the event that tells of it, in numbers
    PRIMARY KEY (ns, place)
) WITHOUT ROWID;
CREATE INDEX exposures_id ON exposures (exposure, ns);
CREATE TABLE feedback (              -- one verdict per memory shown; item -1: the whole answer
    ns INTEGER NOT NULL, exposure TEXT NOT NULL, item INTEGER NOT NULL,
    helpful INTEGER NOT NULL, counted INTEGER NOT NULL,
    PRIMARY KEY (ns, exposure, item)
) WITHOUT ROWID;
CREATE TABLE verdicts (              -- judged pairs of claims: near copies or not, since when
    ns INTEGER NOT NULL, claim_a TEXT NOT NULL, claim_b TEXT NOT NULL, same INTEGER NOT NULL,
    at INTEGER NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (ns, claim_a, claim_b)
) WITHOUT ROWID;
CREATE TABLE rulings (               -- first verdict of a caller on a claim: it binds whenever that claim is read
    ns INTEGER NOT NULL, claim_id TEXT NOT NULL, at INTEGER NOT NULL, seq INTEGER NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY (ns, claim_id)
) WITHOUT ROWID;
CREATE TABLE takings (               -- claims that repeat another one's words, by the id of that: read here or not
    ns INTEGER NOT NULL, target TEXT NOT NULL, claim INTEGER NOT NULL,
    PRIMARY KEY (ns, target, claim)
) WITHOUT ROWID;
CREATE TABLE foreign_claims (        -- of other extraction generations: not folded, but a forget reaches them
    seq INTEGER PRIMARY KEY, ns INTEGER NOT NULL, generation INTEGER NOT NULL,
    claim_id TEXT NOT NULL, event_id TEXT NOT NULL, key_id INTEGER NOT NULL,
    subject_key TEXT                 -- normalised
);
CREATE INDEX foreign_claims_id ON foreign_claims (claim_id, ns);
CREATE INDEX foreign_claims_subject ON foreign_claims (ns, subject_key);
CREATE TABLE foreign_evidence (
    claim INTEGER NOT NULL, event INTEGER NOT NULL, start INTEGER, stop INTEGER,
    PRIMARY KEY (claim, event)
) WITHOUT ROWID;
CREATE INDEX foreign_evidence_event ON foreign_evidence (event);
CREATE TABLE identities (            -- what was said of who is who; `names` follows from it
    seq INTEGER PRIMARY KEY, ns INTEGER NOT NULL, event_id TEXT NOT NULL, at INTEGER NOT NULL, key_id INTEGER NOT NULL,
    kind TEXT NOT NULL,              -- aliased | merged | split
    name TEXT NOT NULL, other TEXT
);
CREATE INDEX identities_ns ON identities (ns);
CREATE TABLE names (                 -- names of entities, as known over [known_from, known_to)
    ns INTEGER NOT NULL, name_key TEXT NOT NULL, entity INTEGER NOT NULL, name TEXT NOT NULL, main INTEGER NOT NULL,
    known_from INTEGER NOT NULL, known_to INTEGER NOT NULL,
    PRIMARY KEY (ns, name_key, known_from)
) WITHOUT ROWID;
CREATE INDEX names_entity ON names (ns, entity);
CREATE TABLE evidence (
    claim INTEGER NOT NULL, event INTEGER NOT NULL, start INTEGER, stop INTEGER,
    PRIMARY KEY (claim, event)
) WITHOUT ROWID;
CREATE INDEX evidence_event ON evidence (event);
CREATE TABLE tombstones (
    seq INTEGER PRIMARY KEY, ns INTEGER NOT NULL, at INTEGER NOT NULL,
    kind TEXT NOT NULL, claims TEXT NOT NULL, events TEXT NOT NULL,  -- JSON arrays of sequence numbers
    chain BLOB                       -- hash chain value after it
);
CREATE TABLE unsaid (                -- what tombstones forbid to be read from words at or before `upto`
    ns INTEGER NOT NULL, what TEXT NOT NULL,  -- keyed fingerprints: slot, value and polarity; or a subject
    upto INTEGER NOT NULL, at INTEGER NOT NULL, tombstone INTEGER NOT NULL,
    PRIMARY KEY (ns, what)
) WITHOUT ROWID;
CREATE TABLE owed (                  -- claims erased here by a tombstone that does not name them: the log owes them one
    claim INTEGER PRIMARY KEY, ns INTEGER NOT NULL, tombstone INTEGER NOT NULL,
    start INTEGER, stop INTEGER      -- where in its words it was stated, where known
);
CREATE TABLE remarks (               -- events in which a caller gave a reason or a note, by what they speak of
    seq INTEGER NOT NULL, memory_id TEXT NOT NULL, ns INTEGER NOT NULL, event_id TEXT NOT NULL, at INTEGER NOT NULL,
    key_id INTEGER NOT NULL,
    PRIMARY KEY (seq, memory_id)
) WITHOUT ROWID;
CREATE INDEX remarks_about ON remarks (ns, memory_id);
CREATE TABLE dead_letters (          -- events that could not be folded, and what waits behind them
    seq INTEGER PRIMARY KEY, ns INTEGER NOT NULL, event_id TEXT NOT NULL, type TEXT NOT NULL, key_id INTEGER NOT NULL,
    error TEXT NOT NULL, at INTEGER NOT NULL, attempts INTEGER NOT NULL,
    state TEXT NOT NULL,             -- parked | retry | skipped
    concerns TEXT NOT NULL           -- ids and slots it speaks of, JSON
);
CREATE TABLE tokens (                -- what the full-text index holds of a document, so that it can be taken out again
    doc INTEGER PRIMARY KEY, ns INTEGER NOT NULL, length INTEGER NOT NULL, words TEXT NOT NULL, chars TEXT NOT NULL
);
CREATE INDEX tokens_ns ON tokens (ns);
CREATE VIRTUAL TABLE fulltext USING fts5 (
    words, chars, content = '', tokenize = "ascii tokenchars '_.|+-#/@%&:='"
);
INSERT INTO fulltext (fulltext, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE terms USING fts5vocab ('fulltext', 'col');
"""

READERS_INDEXES: Final = (
    "events_session", "slots_joint", "claims_ns", "claims_made_from", "claims_subject", "claims_predicate",
    "beliefs_claim", "history_claim", "chains_old", "chains_new", "names_entity",
    "foreign_claims_id", "foreign_claims_subject", "foreign_evidence_event",
)  # fmt: skip
"""What readers look things up by and no fold does: where a file is built in bulk, these are made at its end."""


def document_of_event(seq: int) -> int:
    return 2 * seq


def document_of_claim(seq: int) -> int:
    return 2 * seq + 1
