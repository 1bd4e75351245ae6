-- Requests that start at before_us or later: requests, last_us (NULL where there is none).
SELECT count(*) AS requests, max(start_us) AS last_us FROM requests WHERE start_us >= $before_us
