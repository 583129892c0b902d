"""What comes in: the event contract, the log, keys, provenance, and turning raw events into claim events."""
