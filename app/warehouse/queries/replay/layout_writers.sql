-- Up to $most requests of each scope of {wanted}(scope_id) that wrote the most to a cache. Returns (scope_id, request_key).
SELECT scope_id, request_key
FROM (
    SELECT r.scope_id AS scope_id, s.request_key AS request_key,
           row_number() OVER (PARTITION BY r.scope_id ORDER BY s.cached_tokens - coalesce(s.read_tokens, 0) DESC, s.request_key) AS place
    FROM layout_stream AS s
    JOIN layout_requests AS r ON r.request_key = s.request_key
    JOIN {wanted} AS w ON w.scope_id = r.scope_id
) AS ranked
WHERE place <= $most
ORDER BY scope_id, place
