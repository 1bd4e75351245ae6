-- Adds to overlap_held every request of $held in [from_us, to_us), because nobody said yet whether it or $counted counts.
INSERT INTO overlap_held
SELECT request_key, source, cast($counted AS VARCHAR) AS counted_source, start_us
FROM requests
WHERE source = $held AND start_us >= $from_us AND start_us < $to_us
    AND request_key NOT IN (SELECT request_key FROM overlap_held)
