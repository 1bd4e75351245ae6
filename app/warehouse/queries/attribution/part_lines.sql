-- The temporary table {into}: the lines of each distinct prompt part of a group in {heads}, with how many requests sent
-- the part and where in the prompt the line stands. Lines shorter than $min_bytes (brackets, rules) say nothing.
CREATE OR REPLACE TEMP TABLE {into} AS
WITH parts AS (
    SELECT grp, seg_hash, cast(count(*) AS BIGINT) AS requests, min(pos) AS pos FROM {heads} GROUP BY grp, seg_hash
)
SELECT
    p.grp AS grp, p.seg_hash AS seg_hash, max(p.requests) AS requests, l.line_hash AS line_hash, max(l.bytes) AS bytes,
    min(cast(p.pos AS BIGINT) * 1000000 + l.pos) AS place
FROM parts p
JOIN lines l ON l.seg_hash = p.seg_hash
WHERE l.bytes >= $min_bytes
GROUP BY p.grp, p.seg_hash, l.line_hash
