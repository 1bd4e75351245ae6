-- Writes everything committed into the files themselves, so that they can be copied.
CHECKPOINT
