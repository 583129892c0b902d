"""The command line `taishi`: `up` starts the two sides, the other commands speak to them over HTTP.

Exit codes: 0 done, 1 refused or failed (the reason on standard error), 2 the command line itself is wrong.
"""

from .app import main

__all__ = ["main"]
