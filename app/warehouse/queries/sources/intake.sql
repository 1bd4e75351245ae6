-- What ingest did with the records of each source: source, files, read, stored, updated, merged, benign, rejected
-- (read is the sum of the five behind it) and the time of the last chunk (last_us).
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
FROM ingest_ledger
GROUP BY source
ORDER BY source
