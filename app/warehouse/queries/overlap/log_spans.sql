-- When the counted calls of each log of each source began: source, file, first_us, last_us, bare (how many of them have
-- an answer without an id).
SELECT source, origin_file AS file, min(start_us) AS first_us, max(start_us) AS last_us,
    sum(CASE WHEN provider_response_id IS NULL AND tok_output > 0 THEN 1 ELSE 0 END) AS bare
FROM counted_requests
WHERE start_us IS NOT NULL AND origin_file IS NOT NULL
GROUP BY source, origin_file
ORDER BY source, first_us, last_us, file
