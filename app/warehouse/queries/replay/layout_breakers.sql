-- Where the zone of each scope stops being the same, and what stable text stands behind that place.
-- Returns (scope_id, requests, sampled, values_seen, breaker_line, breaker_hash, breaker_seg, prompt_bytes, bytes_before,
-- stable_bytes, behind_bytes, zone_bytes): requests sampled and different first changing lines among them; the usual first
-- changing line (1-based) with an example of its hash and of the part that holds it, and means over requests: bytes of the
-- prompt, of the text before the first change, of all stable text of the zone, of the stable text behind the first change,
-- of the zone. NULL line: the changing part is no text of lines.
WITH marked AS (
    SELECT s.scope_id AS scope_id, s.seg_hash AS seg_hash, s.requests AS requests, s.pos AS pos, s.line_hash AS line_hash,
           s.bytes AS bytes,
           CASE WHEN t.line_hash IS NULL THEN 0 ELSE 1 END AS stable
    FROM layout_sample AS s
    LEFT JOIN layout_stable_lines AS t ON t.scope_id = s.scope_id AND t.line_hash = s.line_hash
),
parted AS (
    SELECT scope_id, seg_hash, requests, pos, line_hash, bytes, stable,
           min(CASE WHEN stable = 0 THEN pos END) OVER (PARTITION BY scope_id, seg_hash) AS first_change
    FROM marked
),
parts AS (
    SELECT scope_id, seg_hash, max(requests) AS requests,
           max(CASE WHEN pos = first_change THEN line_hash END) AS breaker_hash,
           sum(CASE WHEN pos <= first_change THEN 1 ELSE 0 END) AS breaker_line,
           sum(CASE WHEN stable = 1 AND pos < first_change THEN bytes ELSE 0 END) AS before,
           sum(CASE WHEN stable = 1 THEN bytes ELSE 0 END) AS stable_bytes,
           sum(CASE WHEN stable = 1 AND pos > first_change THEN bytes ELSE 0 END) AS behind
    FROM parted
    WHERE first_change IS NOT NULL
    GROUP BY scope_id, seg_hash
),
ranked AS (
    SELECT scope_id, seg_hash, requests, breaker_hash, breaker_line, before, stable_bytes, behind,
           row_number() OVER (PARTITION BY scope_id ORDER BY requests DESC, seg_hash) AS place
    FROM parts
),
inside AS (
    SELECT scope_id, sum(requests) AS sampled, count(DISTINCT breaker_hash) AS values_seen,
           max(CASE WHEN place = 1 THEN breaker_line END) AS breaker_line,
           max(CASE WHEN place = 1 THEN breaker_hash END) AS breaker_hash,
           max(CASE WHEN place = 1 THEN seg_hash END) AS breaker_seg,
           sum(requests * before) / sum(requests) AS before,
           sum(requests * stable_bytes) / sum(requests) AS stable_bytes, sum(requests * behind) / sum(requests) AS behind
    FROM ranked
    GROUP BY scope_id
),
placed AS (
    SELECT p.scope_id AS scope_id, p.request_key AS request_key, p.prompt_bytes AS prompt_bytes, g.bytes AS bytes,
           g.bytes_upto AS bytes_upto, z.stable AS stable,
           min(CASE WHEN z.stable = 0 THEN g.bytes_upto END) OVER (PARTITION BY p.request_key) AS change_upto
    FROM layout_prompts AS p
    JOIN layout_parts AS g ON g.request_key = p.request_key AND g.part = 1 AND g.pos BETWEEN p.zone_from AND p.zone_to
    JOIN layout_zone_parts AS z ON z.scope_id = p.scope_id AND z.seg_hash = g.seg_hash
),
around AS (
    SELECT scope_id, request_key, max(prompt_bytes) AS prompt_bytes, sum(bytes) AS zone_bytes,
           min(CASE WHEN bytes_upto = change_upto THEN bytes_upto - bytes END) AS before,
           sum(CASE WHEN stable = 1 THEN bytes ELSE 0 END) AS stable_bytes,
           sum(CASE WHEN stable = 1 AND bytes_upto > change_upto THEN bytes ELSE 0 END) AS behind,
           max(change_upto) AS change_upto
    FROM placed
    GROUP BY scope_id, request_key
),
outside AS (
    SELECT scope_id, count(*) AS requests, avg(prompt_bytes) AS prompt_bytes, avg(zone_bytes) AS zone_bytes,
           avg(before) AS before, avg(stable_bytes) AS stable_bytes, avg(behind) AS behind
    FROM around
    WHERE change_upto IS NOT NULL
    GROUP BY scope_id
)
SELECT o.scope_id AS scope_id, o.requests AS requests, coalesce(i.sampled, 0) AS sampled,
       coalesce(i.values_seen, 0) AS values_seen,
       i.breaker_line, i.breaker_hash, i.breaker_seg,
       o.prompt_bytes,
       o.before + coalesce(i.before, 0) AS bytes_before,
       o.stable_bytes + coalesce(i.stable_bytes, 0) AS stable_bytes,
       o.behind + coalesce(i.behind, 0) AS behind_bytes,
       o.zone_bytes
FROM outside AS o
LEFT JOIN inside AS i ON i.scope_id = o.scope_id
ORDER BY o.scope_id
