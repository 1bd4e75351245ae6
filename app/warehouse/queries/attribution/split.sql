-- Splits nodes that are several prompts: the temporary table `chosen` anew. A child is pure if nearly all requests that
-- carry its line ($pure) chose it; pure children must cover $cover of the node, and at least $own of the text that is
-- constant in them must be their own. A field with a few values ("Language: German") has too little text of its own;
-- popular documents of a search are carried together and are not pure.
CREATE OR REPLACE TEMP TABLE chosen_before AS SELECT request_key, grp, line_hash FROM chosen;
CREATE OR REPLACE TEMP TABLE chosen AS
WITH node_constant AS (
    SELECT l.grp AS grp, l.line_hash AS line_hash, max(l.bytes) AS bytes
    FROM node_lines l
    JOIN split_nodes n ON n.node = l.grp
    GROUP BY l.grp, l.line_hash, n.requests
    HAVING sum(l.requests) >= $constant * n.requests
),
child_constant AS (
    SELECT m.child AS child, m.grp AS grp, l.line_hash AS line_hash, max(l.bytes) AS bytes
    FROM child_lines l
    JOIN child_names m ON m.child = l.grp
    GROUP BY m.child, m.grp, l.line_hash, m.requests
    HAVING sum(l.requests) >= $constant * m.requests
),
texts AS (
    SELECT
        c.child AS child,
        sum(CASE WHEN n.line_hash IS NULL THEN c.bytes ELSE 0 END) AS own_bytes,
        sum(c.bytes) AS constant_bytes
    FROM child_constant c
    LEFT JOIN node_constant n ON n.grp = c.grp AND n.line_hash = c.line_hash
    GROUP BY c.child
),
pure AS (
    SELECT m.child AS child, m.grp AS grp, m.line_hash AS line_hash, m.requests AS requests, t.own_bytes AS own_bytes,
        t.constant_bytes AS constant_bytes
    FROM child_names m
    JOIN node_ranks k ON k.grp = m.grp AND k.line_hash = m.line_hash
    JOIN texts t ON t.child = m.child
    WHERE m.requests >= $pure * k.df AND m.requests >= $min_requests
),
split_up AS (
    SELECT p.grp AS node
    FROM pure p
    JOIN split_nodes n ON n.node = p.grp
    GROUP BY p.grp, n.requests
    HAVING sum(p.requests) >= $cover * n.requests
        AND sum(p.requests * p.own_bytes) >= $own * sum(p.requests * p.constant_bytes)
),
moved AS (
    SELECT c.request_key AS request_key, c.line_hash AS line_hash
    FROM children c
    JOIN split_up s ON s.node = c.grp
    JOIN pure p ON p.grp = c.grp AND p.line_hash = c.line_hash
)
SELECT b.request_key AS request_key, b.grp AS grp, coalesce(m.line_hash, b.line_hash) AS line_hash
FROM chosen_before b
LEFT JOIN moved m ON m.request_key = b.request_key
