-- The starts of the requests attributed just now, by the quarter hour: start_us, NULL for those without a time.
SELECT DISTINCT r.start_us - r.start_us % 900000000 AS start_us
FROM pending p
JOIN requests r ON r.request_key = p.request_key
