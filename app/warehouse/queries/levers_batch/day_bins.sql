-- How the requests of a scope lie in the local day: (scope columns, bin of ten minutes 0..143, requests).
SELECT
    s.feature, s.template, s.provider, s.model_id,
    cast(floor((s.local_us % 86400000000) / 600000000) AS INTEGER) AS bin,
    count(*) AS requests
FROM batch_rows r
JOIN stream s ON s.request_key = r.request_key
GROUP BY s.feature, s.template, s.provider, s.model_id, bin
