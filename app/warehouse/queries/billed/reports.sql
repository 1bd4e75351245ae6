-- The bills that were read: source, report, provider, currency (NULL: a usage report), first_day and last_day (ISO), lines,
-- cost (native), file (one of them, as given), written_us (of the newest).
SELECT
    source,
    report,
    provider,
    currency,
    cast(min(day) AS VARCHAR) AS first_day,
    cast(max(day) AS VARCHAR) AS last_day,
    cast(sum(lines) AS BIGINT) AS lines,
    sum(cost) AS cost,
    max(file) AS file,
    cast(floor(max(file_mtime_ns) / 1000) AS BIGINT) AS written_us
FROM billed
GROUP BY source, report, provider, currency
ORDER BY source, report, provider, currency
