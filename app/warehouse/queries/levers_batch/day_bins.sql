-- How the requests of a scope lie in the local day: (scope columns, bin of ten minutes 0..143, requests).
SELECT
    feature, template, provider, model_id,
    cast(floor((local_us % 86400000000) / 600000000) AS INTEGER) AS bin,
    count(*) AS requests
FROM batch_rows
GROUP BY feature, template, provider, model_id, bin
