-- The message parts of one request's prompt, in order, at most $limit: pos, role, kind, seg_hash, bytes, bytes_upto,
-- tokens_upto.
SELECT pos, role, kind, seg_hash, bytes, bytes_upto, tokens_upto
FROM segments
WHERE request_key = $request_key AND is_boundary
ORDER BY pos
LIMIT $limit
