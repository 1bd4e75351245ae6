-- What ingest did with the records of each source: source, files, read, stored, updated, merged, benign, rejected
-- (read is the sum of the five behind it) and the time of the last chunk (last_us). A file that was refused as a whole
-- is no part of the ledger, so that it is looked at again: its one place in the quarantine (line 0) is one record that
-- was read and rejected.
WITH told AS (
    SELECT source, file, read, stored, updated, merged, benign, rejected, taken_us FROM ingest_ledger
    UNION ALL
    SELECT q.source, q.path, 1, 0, 0, 0, 0, 1, q.seen_us
    FROM quarantine q
    WHERE q.line = 0
        AND NOT EXISTS (SELECT 1 FROM ingest_ledger l WHERE l.file = q.path AND l.source = q.source AND l.rejected > 0)
)
SELECT
    source,
    count(DISTINCT file) AS files,
    sum(cast(read AS DECIMAL(38, 0))) AS read_records,
    sum(cast(stored AS DECIMAL(38, 0))) AS stored,
    sum(cast(updated AS DECIMAL(38, 0))) AS updated,
    sum(cast(merged AS DECIMAL(38, 0))) AS merged,
    sum(cast(benign AS DECIMAL(38, 0))) AS benign,
    sum(cast(rejected AS DECIMAL(38, 0))) AS rejected,
    max(taken_us) AS last_us
FROM told
GROUP BY source
ORDER BY source
