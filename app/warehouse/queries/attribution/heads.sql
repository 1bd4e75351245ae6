-- The temporary table `heads`: the parts of a prompt in which its template is looked for: tools, system, and the first
-- user message. Later messages repeat what a conversation said before.
CREATE OR REPLACE TEMP TABLE heads AS
WITH grouped AS (
    SELECT u.request_key AS request_key, u.start_us AS start_us, g.grp AS grp
    FROM ruled u
    JOIN requests r ON r.request_key = u.request_key AND r.start_us IS NOT DISTINCT FROM u.start_us
    JOIN template_groups g
        ON g.account = coalesce(r.account, '') AND g.provider = coalesce(r.provider, '')
        AND g.model_id = coalesce(r.model_id, r.model, '') AND g.feature = coalesce(u.feature, '')
    WHERE r.exact_key IS NOT NULL
),
parts AS (
    SELECT
        s.request_key AS request_key, g.grp AS grp, s.pos, s.seg_hash AS seg_hash, s.role,
        min(CASE WHEN s.role NOT IN ('tools', 'system') THEN s.pos END) OVER (PARTITION BY s.request_key) AS first_said
    FROM segments s
    JOIN grouped g ON g.request_key = s.request_key AND g.start_us IS NOT DISTINCT FROM s.start_us
    WHERE s.is_boundary
)
SELECT request_key, grp, pos, seg_hash FROM parts WHERE role IN ('tools', 'system') OR pos = first_said
