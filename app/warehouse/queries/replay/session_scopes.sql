-- How many requests of each scope can only be replayed by session. Returns (scope_id, steps, followers): requests with a session
-- and without fingerprints, and those of them that have a step before them.
SELECT scope_id, count(*) AS steps, sum(CASE WHEN prior_prompt > 0 THEN 1 ELSE 0 END) AS followers
FROM session_steps
GROUP BY scope_id
ORDER BY scope_id
