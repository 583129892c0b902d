"""What callers ask to change: each command validates, then appends. Nothing here opens a read model for writing."""
