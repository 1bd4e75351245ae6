-- What exports say of which days, for telling the newest: every period of the reports that have lines about several days
-- or of all accounts of a payer (scopes like $whole), or items that stand for themselves (scopes like $flat), and of others
-- the days of {days}(source, report, scope, day). source, report, scope, day, last_day (ISO; the day itself where it is
-- one), export, page, written_ns (of the newest file), has_usage (whether any of it is use of a model), has_more (whether
-- the page says that another follows), payer (NULL where not every line names the same one).
SELECT
    b.source, b.report, b.scope, cast(b.day AS VARCHAR) AS day, cast(coalesce(b.last_day, b.day) AS VARCHAR) AS last_day,
    b.export, b.page, max(b.file_mtime_ns) AS written_ns,
    max(CASE WHEN b.kind = 'usage' THEN 1 ELSE 0 END) AS has_usage,
    max(CASE WHEN b.has_more THEN 1 ELSE 0 END) AS has_more,
    CASE WHEN count(*) = count(b.payer) AND min(b.payer) = max(b.payer) THEN min(b.payer) END AS payer
FROM billed b
WHERE (b.source, b.report, b.scope) IN (SELECT l.source, l.report, l.scope FROM billed l WHERE l.last_day > l.day)
    OR (b.source, b.report) IN (SELECT l.source, l.report FROM billed l WHERE l.scope LIKE $flat OR l.scope LIKE $whole)
    OR (b.source, b.report, b.scope, b.day) IN (SELECT i.source, i.report, i.scope, cast(i.day AS DATE) FROM {days} i)
GROUP BY b.source, b.report, b.scope, b.day, coalesce(b.last_day, b.day), b.export, b.page
