-- The first and the last start of a request; NULL where none has a time: first_us, last_us.
SELECT min(start_us) AS first_us, max(start_us) AS last_us FROM requests
