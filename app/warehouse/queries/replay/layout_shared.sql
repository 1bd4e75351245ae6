-- How much of the prompts of {wanted}(scope_id), as sent, another request of the scope shares from the first byte on.
-- Returns (scope_id, share): mean share of a prompt up to its deepest boundary that at least two requests have.
WITH used AS (
    SELECT b.scope_id AS scope_id, b.key AS key
    FROM layout_bounds AS b
    JOIN {wanted} AS w ON w.scope_id = b.scope_id
    WHERE b.layout = 0
    GROUP BY b.scope_id, b.key
    HAVING count(*) > 1
),
deepest AS (
    SELECT b.scope_id AS scope_id, b.request_key AS request_key,
           max(CASE WHEN u.key IS NULL THEN 0 ELSE b.share END) AS share
    FROM layout_bounds AS b
    JOIN {wanted} AS w ON w.scope_id = b.scope_id
    LEFT JOIN used AS u ON u.scope_id = b.scope_id AND u.key = b.key
    WHERE b.layout = 0
    GROUP BY b.scope_id, b.request_key
)
SELECT scope_id, avg(share) AS share FROM deepest GROUP BY scope_id ORDER BY scope_id
