-- Stores the links of incoming_links that are not here yet.
INSERT INTO span_links (trace_id, span_id, parent_id, start_us, seen_us)
SELECT n.trace_id, n.span_id, n.parent_id, n.start_us, $seen_us
FROM incoming_links AS n
WHERE NOT EXISTS (
    SELECT 1 FROM span_links AS l
    WHERE l.trace_id = n.trace_id AND l.span_id = n.span_id AND l.parent_id = n.parent_id
)
