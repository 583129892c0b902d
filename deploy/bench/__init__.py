"""Measures of what a user compares: recall on labelled conversations, through the real write and read sides."""
