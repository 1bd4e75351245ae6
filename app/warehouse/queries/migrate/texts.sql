-- The texts of segments, each once: hash is segments.seg_hash, seen_us when it was first taken. Redacted text only.
-- They live in a file of their own, and one transaction may write only one file: no numbered migration makes them.
CREATE TABLE IF NOT EXISTS texts.contents (
    hash BIGINT NOT NULL,
    text VARCHAR NOT NULL USING COMPRESSION zstd,
    seen_us BIGINT NOT NULL
);
