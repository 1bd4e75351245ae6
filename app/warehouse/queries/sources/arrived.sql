-- Every source that requests or records came from: source, pushed (whether any of it was pushed), requests, and when
-- something of it was last taken in (last_us, NULL where only its requests are known). A push counts under the file
-- $pushed and the source's name.
WITH taken AS (
    SELECT
        source,
        max(CASE WHEN file = concat($pushed, source) THEN 1 ELSE 0 END) AS pushed,
        max(taken_us) AS last_us
    FROM ingest_ledger
    GROUP BY source
),
told AS (
    SELECT source, count(*) AS requests FROM requests GROUP BY source
)
SELECT
    coalesce(k.source, r.source) AS source,
    coalesce(k.pushed, 0) = 1 AS pushed,
    coalesce(r.requests, 0) AS requests,
    k.last_us
FROM taken AS k
FULL OUTER JOIN told AS r ON r.source = k.source
ORDER BY 1
