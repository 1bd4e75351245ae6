-- The chunks of one file that were taken, by place: source, format, head_bytes, head_hash, tail_hash, file_bytes,
-- file_mtime_ns, byte_from, byte_to, line_from, line_to, complete,
-- at_end.
SELECT
    source, format, head_bytes, head_hash, tail_hash, file_bytes, file_mtime_ns, byte_from, byte_to, line_from, line_to,
    complete, at_end
FROM ingest_ledger
WHERE file = $file AND format <> 'unknown'
ORDER BY byte_from, byte_to, taken_us
