-- Takes back that the records of incoming_again (source, path) were read and rejected: they are fetched again, and counted
-- then.
INSERT INTO ingest_ledger (
    shard, source, format, file, head_bytes, head_hash, tail_hash, file_bytes, file_mtime_ns, byte_from, byte_to,
    line_from, line_to, complete, at_end, read, stored, updated, merged, benign, rejected, taken_us
)
SELECT
    $shard, source, 'unknown', path, 0, 0, 0, 0, 0, 0, 0,
    0, 0, false, false, -count(*), 0, 0, 0, 0, -count(*), $taken_us
FROM quarantine
WHERE line > 0
    AND EXISTS (SELECT 1 FROM incoming_again AS n WHERE n.source = quarantine.source AND n.path = quarantine.path)
GROUP BY source, path
