-- Stored records without any id that may be those of incoming_bare at another line, by source, time and fullness (whose last
-- bits are of the record's bytes): request_key, standing_key, standing_record, standing_file, standing_line.
SELECT
    b.request_key,
    r.request_key AS standing_key,
    r.source_record AS standing_record,
    r.origin_file AS standing_file,
    r.origin_line AS standing_line
FROM incoming_bare AS b
INNER JOIN requests AS r ON r.source = b.source AND r.start_us = b.start_us AND r.fullness = b.fullness
WHERE r.source_record LIKE '~%' AND r.request_key <> b.request_key
