-- The temporary view `pending_attribution`: what the pending requests serve: the rules' feature, else the template's
-- name of template_names(template, name), else unassigned. In the columns of attribution, without the version.
CREATE OR REPLACE TEMP VIEW pending_attribution AS
SELECT
    u.request_key AS request_key,
    coalesce(u.feature, n.name, 'unassigned') AS feature,
    coalesce(u.team, 'unassigned') AS team,
    coalesce(u.environment, 'unassigned') AS environment,
    c.line_hash AS template,
    CASE WHEN u.feature IS NOT NULL THEN u.label WHEN c.line_hash IS NOT NULL THEN 'template' ELSE 'none' END AS rule
FROM ruled u
LEFT JOIN chosen c ON c.request_key = u.request_key
LEFT JOIN template_names n ON n.template = c.line_hash
