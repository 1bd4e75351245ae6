-- Holds out the requests of overlap_held that start in [from_us, to_us).
INSERT INTO held_out
SELECT request_key, source, counted_source, start_us FROM overlap_held
WHERE start_us >= $from_us AND start_us < $to_us
