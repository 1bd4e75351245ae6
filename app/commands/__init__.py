"""Groups of commands that are too long for `app/cli.py`, one file each; they read arguments and print, no more."""
