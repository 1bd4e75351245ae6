"""The dialects, one file each."""
