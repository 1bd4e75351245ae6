-- The starts of the requests attributed just now, by the quarter hour: start_us, NULL for those without a time.
SELECT DISTINCT start_us - start_us % 900000000 AS start_us FROM pending
