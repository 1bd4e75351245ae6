"""The ways to spend less, one file each, in the explicit tuple `LEVERS`."""
