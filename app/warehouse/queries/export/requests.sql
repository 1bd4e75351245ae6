-- The temporary table {into}: the requests that start in [from_us, to_us) (0 with those that have no time) with the
-- newest attribution. Columns: at_us, those of requests, feature, team, environment, assigned_by, template, calls (how
-- many calls a row stands for), charge (NULL: usage).
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    r.*,
    coalesce(a.feature, 'unassigned') AS feature,
    coalesce(a.team, 'unassigned') AS team,
    coalesce(a.environment, 'unassigned') AS environment,
    coalesce(a.rule, 'none') AS assigned_by,
    a.template,
    cast(CASE WHEN r.calls_summed > 1 THEN r.calls_summed ELSE 1 END AS BIGINT) AS calls,
    cast(NULL AS VARCHAR) AS charge
FROM (
    SELECT start_us AS at_us, * FROM counted_requests WHERE start_us IS NOT NULL
    UNION ALL
    SELECT cast(0 AS BIGINT) AS at_us, * FROM counted_requests WHERE start_us IS NULL
) AS r
LEFT JOIN attribution_latest AS a ON a.request_key = r.request_key
WHERE r.at_us >= $from_us AND r.at_us < $to_us
