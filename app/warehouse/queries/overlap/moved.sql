-- The starts of requests of [from_us, to_us) that are held out and should not be, or should be and are not: start_us.
SELECT coalesce(n.start_us, h.start_us) AS start_us
FROM (SELECT request_key, start_us FROM held_out WHERE start_us >= $from_us AND start_us < $to_us) h
FULL OUTER JOIN (SELECT request_key, start_us FROM overlap_held WHERE start_us >= $from_us AND start_us < $to_us) n
    ON n.request_key = h.request_key
WHERE n.request_key IS NULL OR h.request_key IS NULL
