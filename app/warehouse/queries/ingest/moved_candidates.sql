-- Stored records without any id that may be those of incoming_bare at another line, by source, time and fullness (whose last
-- bits are of the record's bytes), unless more than most_alike of them are alike: request_key, standing_key,
-- standing_record, standing_file, standing_line.
WITH alike AS (
    SELECT
        r.request_key, r.source, r.source_record, r.origin_file, r.origin_line, r.start_us, r.fullness,
        count(*) OVER (PARTITION BY r.source, r.start_us, r.fullness) AS times
    FROM requests AS r
    INNER JOIN (SELECT DISTINCT source, start_us, fullness FROM incoming_bare) AS i
        ON i.source = r.source AND i.start_us = r.start_us AND i.fullness = r.fullness
    WHERE r.source_record LIKE '~%'
)

SELECT
    b.request_key,
    a.request_key AS standing_key,
    a.source_record AS standing_record,
    a.origin_file AS standing_file,
    a.origin_line AS standing_line
FROM incoming_bare AS b
INNER JOIN alike AS a ON a.source = b.source AND a.start_us = b.start_us AND a.fullness = b.fullness
WHERE a.request_key <> b.request_key AND a.times <= $most_alike
