"""Backup and restore: a copy of log, key store and read models that brings back nothing that was forgotten."""
