-- The boundary that the billed cache tokens of each request of layout_stream reach, as the temporary table
-- layout_billed(request_key, ordinal): the deepest end of a part, as sent, whose tokens are at most those read and written (with
-- 1 % for rounding). Where the marks stood is not logged; this is where the last one must have been.
CREATE OR REPLACE TEMPORARY TABLE layout_billed AS
SELECT s.request_key AS request_key, max(b.ordinal) AS ordinal
FROM layout_stream AS s
JOIN layout_bounds AS b ON b.request_key = s.request_key
WHERE s.cached_tokens > 0 AND b.layout = 0 AND b.ordinal > 0 AND b.share * s.prompt_tokens <= 1.01 * s.cached_tokens
GROUP BY s.request_key
