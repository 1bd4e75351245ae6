-- Writes the attribution of the pending requests as $version: the rules' feature, else the template's name of
-- template_names(template, name), else unassigned.
INSERT INTO attribution
SELECT
    u.request_key AS request_key,
    coalesce(u.feature, n.name, 'unassigned') AS feature,
    coalesce(u.team, 'unassigned') AS team,
    coalesce(u.environment, 'unassigned') AS environment,
    c.line_hash AS template,
    CASE WHEN u.feature IS NOT NULL THEN u.label WHEN c.line_hash IS NOT NULL THEN 'template' ELSE 'none' END AS rule,
    $version AS version
FROM ruled u
LEFT JOIN chosen c ON c.request_key = u.request_key
LEFT JOIN template_names n ON n.template = c.line_hash
