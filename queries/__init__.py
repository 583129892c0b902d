"""Recall, explain, timeline, audit, status: answers read from the read models alone."""
