-- The requests that accepted candidates act on, as the temporary table touch_prompt_caching(request_key, candidate):
-- {accepted}(scope_id, candidate, whole 0 or 1). Switching caching off needs no fingerprints (whole = 1); a new layout touches
-- requests whose prompt is known.
CREATE OR REPLACE TEMPORARY TABLE touch_prompt_caching AS
SELECT r.request_key, a.candidate
FROM layout_requests AS r
JOIN {accepted} AS a ON a.scope_id = r.scope_id
LEFT JOIN layout_prompts AS p ON p.request_key = r.request_key
WHERE a.whole = 1 OR p.prompt_bytes > 0
