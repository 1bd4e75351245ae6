-- Hits of a store whose entries live a fixed time from the moment they were stored and are not renewed by a hit, as an
-- answer cache with a maximum age behaves. Reads {events}(key, start_us, request_key); a miss stores.
-- An entry's end depends on when the last one was stored, so this is a fold along each key and no window.
-- Returns (key, touches, hits), one row a key that was asked for more than once.
WITH touched AS (
    SELECT key, list(start_us ORDER BY start_us, request_key) AS times
    FROM {events}
    GROUP BY key
    HAVING count(*) > 1
)
SELECT key,
       len(times) AS touches,
       list_reduce(
           list_transform(times, lambda t: {'stored': t, 'hits': 0}),
           lambda held, now: CASE WHEN now.stored - held.stored <= $ttl_us
                                  THEN {'stored': held.stored, 'hits': held.hits + 1}
                                  ELSE {'stored': now.stored, 'hits': held.hits} END
       ).hits AS hits
FROM touched
