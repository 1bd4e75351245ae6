-- The first and the last start of a request; NULL where none has a time: first_us, last_us (before before_us, where any is).
SELECT
    min(start_us) AS first_us,
    coalesce(max(CASE WHEN start_us < $before_us THEN start_us END), max(start_us)) AS last_us
FROM requests
