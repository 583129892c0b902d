"""Composition root: settings, the embedded server, the process launcher and the command line."""
