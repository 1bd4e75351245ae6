-- Notes the chunks that were taken, in the transaction that stores their rows.
INSERT INTO ingest_ledger (
    shard, source, format, file, head_bytes, head_hash, tail_hash, file_bytes, file_mtime_ns, byte_from, byte_to,
    line_from, line_to, complete, at_end, read, stored, updated, merged, benign, rejected, taken_us
)
SELECT
    shard, source, format, file, head_bytes, head_hash, tail_hash, file_bytes, file_mtime_ns, byte_from, byte_to,
    line_from, line_to, complete, at_end, read, stored, updated, merged, benign, rejected, $taken_us
FROM incoming_ledger
