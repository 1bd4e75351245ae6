-- Which models the requests of each prepared scope have in layout_stream, after any change of model.
-- Returns (scope_id, provider, model_id, last_us).
SELECT r.scope_id AS scope_id, s.provider AS provider, s.model_id AS model_id, max(s.start_us) AS last_us
FROM layout_stream AS s
JOIN layout_requests AS r ON r.request_key = s.request_key
GROUP BY r.scope_id, s.provider, s.model_id
ORDER BY r.scope_id, s.provider, s.model_id
