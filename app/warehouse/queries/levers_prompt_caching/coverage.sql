-- What the log says about caching. Returns (requests, with_prompt, with_time, with_cache_classes, with_session).
SELECT count(*) AS requests,
       coalesce(sum(CASE WHEN s.prompt_bytes IS NULL THEN 0 ELSE 1 END), 0) AS with_prompt,
       coalesce(sum(CASE WHEN s.start_us IS NULL THEN 0 ELSE 1 END), 0) AS with_time,
       coalesce(sum(CASE WHEN s.tok_cache_read IS NULL THEN 0 ELSE 1 END), 0) AS with_cache_classes,
       coalesce(sum(CASE WHEN s.session_id IS NULL THEN 0 ELSE 1 END), 0) AS with_session
FROM stream AS s
