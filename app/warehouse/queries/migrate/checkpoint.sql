-- Moves what the write-ahead logs hold into the files of facts and texts.
CHECKPOINT;
CHECKPOINT texts
