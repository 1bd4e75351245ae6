-- Exports of which a newer one says the same days, among those that incoming_billed speaks of: source, report, scope, day,
-- export, page. The newest file counts; of one file the last page. Parts of one export count as one.
WITH exports AS (
    SELECT b.source, b.report, b.scope, b.day, b.export, b.page, max(b.file_mtime_ns) AS written_ns
    FROM billed b
    WHERE (b.source, b.report, b.scope, b.day)
        IN (SELECT i.source, i.report, i.scope, cast(i.day AS DATE) FROM incoming_billed i)
    GROUP BY b.source, b.report, b.scope, b.day, b.export, b.page
),
ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY source, report, scope, day ORDER BY written_ns DESC, export DESC, page DESC
        ) AS place
    FROM exports
)
SELECT source, report, scope, cast(day AS VARCHAR) AS day, export, page FROM ranked WHERE place > 1
