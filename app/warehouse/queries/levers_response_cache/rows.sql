-- The repeated requests in the order in which an answer cache would see them.
SELECT request_key, exact_key, principal, start_us, end_us, status, feature, template, provider, model_id, cost_pusd,
       deterministic, kind, agrees
FROM repeats
ORDER BY exact_key, principal, start_us, request_key
