-- What ingest keeps beside the facts: which chunks were taken, what could not be read, and a view on the texts.

-- One row a chunk of a source file, written in the transaction that stores its rows. A chunk is a byte range of a plain
-- file of lines; other files (JSON documents, CSV, compressed) are one chunk from 0 to their size.
CREATE TABLE ingest_ledger (
    shard VARCHAR NOT NULL,             -- name of the shard that carried it
    source VARCHAR NOT NULL,
    format VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    head_bytes BIGINT NOT NULL,         -- the first bytes of the file that head_hash covers
    head_hash BIGINT NOT NULL,
    tail_hash BIGINT NOT NULL,          -- of the last bytes before byte_to: proves that the file only grew
    file_bytes BIGINT NOT NULL,         -- size and change time of the file when the chunk was cut
    file_mtime_ns BIGINT NOT NULL,
    byte_from BIGINT NOT NULL,
    byte_to BIGINT NOT NULL,
    line_from BIGINT NOT NULL,          -- lines before the chunk
    line_to BIGINT NOT NULL,            -- lines before the end of the chunk
    complete BOOLEAN NOT NULL,          -- false for an early shard of a chunk
    at_end BOOLEAN NOT NULL,            -- the chunk reached the end of the file, as it was then
    read BIGINT NOT NULL,               -- read = stored + updated + merged + benign + rejected
    stored BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    merged BIGINT NOT NULL,
    benign BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    taken_us BIGINT NOT NULL
);

CREATE TABLE quarantine (
    source VARCHAR NOT NULL,
    file VARCHAR NOT NULL,              -- as given
    path VARCHAR NOT NULL,              -- absolute
    line BIGINT NOT NULL,               -- 0: the file as a whole
    byte_from BIGINT,                   -- where the record starts in a plain file; NULL elsewhere
    reason VARCHAR NOT NULL,
    head VARCHAR NOT NULL,              -- redacted, at most 512 bytes
    seen_us BIGINT NOT NULL
);

-- hash is segments.seg_hash of a whole part (is_boundary).
CREATE VIEW contents AS SELECT hash, text, seen_us FROM texts.contents;
