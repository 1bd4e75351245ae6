"""The formats Halve reads, one file each, in the explicit tuple `FORMATS`."""
