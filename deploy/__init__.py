"""The composition root: settings, the embedded server, the processes and their supervisor, the command line."""
