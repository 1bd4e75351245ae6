-- The boundaries of the prompts in layout_requests, as sent, as the temporary table layout_parts(request_key, scope_id, pos,
-- part 0 or 1, role, seg_hash, chain_hash, bytes, bytes_upto, weight, weight_upto): ends of message parts (part = 1) and, where any
-- shared prefix counts, blocks inside long parts (part = 0). A prompt's tokens are placed by weight, which here are its bytes;
-- layout_parts_weighed makes the same table where something better is known.
CREATE OR REPLACE TEMPORARY TABLE layout_parts AS
SELECT r.request_key AS request_key, r.scope_id AS scope_id, g.pos AS pos, CASE WHEN g.is_boundary THEN 1 ELSE 0 END AS part,
       g.role AS role, g.seg_hash AS seg_hash, g.chain_hash AS chain_hash, g.bytes AS bytes, g.bytes_upto AS bytes_upto,
       g.bytes AS weight, g.bytes_upto AS weight_upto
FROM layout_requests AS r
JOIN segments AS g ON g.request_key = r.request_key
WHERE g.is_boundary OR r.marked = 0
