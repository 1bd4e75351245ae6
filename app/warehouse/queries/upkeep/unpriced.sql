-- Requests without a price, a part of one, or without usage. Columns: unpriced, unknown.
SELECT
    sum(CASE WHEN cost_state IN ('unpriced', 'partly') THEN 1 ELSE 0 END) AS unpriced,
    sum(CASE WHEN cost_state = 'unknown' THEN 1 ELSE 0 END) AS unknown_usage
FROM requests
