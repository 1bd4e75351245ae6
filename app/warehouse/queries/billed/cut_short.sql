-- Pages of bills that say that another follows, of which none was read: source, report, last_day (ISO; the last of the page's
-- days), file. A page of the same report that reaches as far or further and says no more is one that follows.
WITH pages AS (
    SELECT source, report, scope, export, page, max(day) AS last_day, max(file) AS file, max(coalesce(has_more, false)) AS more
    FROM billed
    GROUP BY source, report, scope, export, page
),
ended AS (
    SELECT source AS ended_source, report AS ended_report, max(last_day) AS ended_day FROM pages WHERE NOT more GROUP BY source, report
)
SELECT source, report, cast(max(last_day) AS VARCHAR) AS last_day, max(file) AS file
FROM pages
LEFT JOIN ended ON ended_source = source AND ended_report = report
WHERE more AND (ended_day IS NULL OR ended_day < last_day)
GROUP BY source, report
ORDER BY source, report
