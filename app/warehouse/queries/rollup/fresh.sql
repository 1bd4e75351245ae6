-- The temporary view `fresh_facts`: the requests of {fresh} (request_key) that count, in the columns of attributed_facts.
-- Both sides are cut down before they are joined, so that a few new requests of a long hour cost no more than they are.
CREATE OR REPLACE TEMP VIEW fresh_facts AS
SELECT
    f.*,
    coalesce(a.feature, 'unassigned') AS feature,
    coalesce(a.team, 'unassigned') AS team,
    coalesce(a.environment, 'unassigned') AS environment,
    CASE WHEN a.rule IS NULL THEN 'none' WHEN a.rule LIKE 'rule:%' THEN 'rule' ELSE a.rule END AS assigned_by,
    coalesce(cast(a.template AS VARCHAR), 'unassigned') AS template
FROM (SELECT * FROM request_facts WHERE request_key IN (SELECT request_key FROM {fresh})) f
LEFT JOIN (
    SELECT * FROM attribution_latest WHERE request_key IN (SELECT request_key FROM {fresh})
) a ON a.request_key = f.request_key
