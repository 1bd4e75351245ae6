-- The width of the roll-ups' buckets in microseconds; no row before the first fill.
SELECT max(bucket_us) AS bucket_us FROM rollup_state HAVING max(bucket_us) IS NOT NULL
