-- The requests just before and after one in its session, nearest first, $most on each side: request_key, side.
WITH around AS (
    SELECT
        request_key,
        CASE
            WHEN start_us < $start_us OR (start_us = $start_us AND request_key < $request_key) THEN 'before'
            ELSE 'after'
        END AS side,
        abs(start_us - $start_us) AS distance
    FROM requests
    WHERE session_id = $session_id AND start_us IS NOT NULL AND request_key <> $request_key
),
placed AS (
    SELECT request_key, side, row_number() OVER (PARTITION BY side ORDER BY distance, request_key) AS place FROM around
)
SELECT request_key, side FROM placed WHERE place <= $most ORDER BY side, place
