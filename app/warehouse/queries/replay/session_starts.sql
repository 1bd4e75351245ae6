-- What is read at once where a session starts or comes back after its lifetime: the shared system prefix of each model, the most
-- frequent billed read there (the larger of two equally frequent ones). Reads session_steps with $ttl_us as the lifetime.
-- Returns (scope_id, tokens).
SELECT scope_id, read_tokens AS tokens
FROM (
    SELECT scope_id, read_tokens,
           row_number() OVER (PARTITION BY scope_id ORDER BY count(*) DESC, read_tokens DESC) AS place
    FROM session_steps
    WHERE gap_us > $ttl_us AND read_tokens IS NOT NULL
    GROUP BY scope_id, read_tokens
) AS ranked
WHERE place = 1
ORDER BY scope_id
