-- How a request is billed: as its source is, NULL where nobody said; provisioned where bought capacity served it.
SELECT CASE WHEN $service_tier IN ('provisioned', 'reserved', 'scale') THEN 'provisioned' ELSE max(billing) END AS billing
FROM sources
WHERE source = $source
