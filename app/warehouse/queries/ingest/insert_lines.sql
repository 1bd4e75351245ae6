-- Stores the lines of segments whose lines are not there yet. A segment that several shards bring is taken from the first.
INSERT INTO lines (seg_hash, pos, line_hash, bytes)
SELECT n.seg_hash, n.pos, n.line_hash, n.bytes
FROM incoming_lines AS n
WHERE n.seg_hash NOT IN (
    SELECT s.seg_hash
    FROM lines AS s
    WHERE s.pos = 0 AND s.seg_hash IN (SELECT seg_hash FROM incoming_lines WHERE pos = 0)
)
