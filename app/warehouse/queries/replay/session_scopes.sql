-- How many requests of each scope can only be replayed by session. Returns (scope_id, steps, followers, growing): requests with a
-- session and without fingerprints, those of them that have a step before them, and those whose prompt is no shorter than that
-- step's: a session that extends its own prompt grows with every step.
SELECT scope_id, count(*) AS steps,
       sum(CASE WHEN prior_prompt > 0 THEN 1 ELSE 0 END) AS followers,
       sum(CASE WHEN prior_prompt > 0 AND prompt_tokens >= prior_prompt THEN 1 ELSE 0 END) AS growing
FROM session_steps
GROUP BY scope_id
ORDER BY scope_id
