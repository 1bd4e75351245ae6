-- Files whose lines overtaken_billed is about to take away, that name no payer, and of which a newer file says nothing the
-- same: no line of a day, account, model and class costs what it did, and some cost less, are gone, or cost more than half as
-- much again where the file was written three days after the day, which a day that was not over yet does not do. file, newer (file), currency, first, last (day, ISO), cost (of the lines that go).
WITH told AS (
    SELECT
        b.source, b.report, b.scope, b.day, b.file, b.path, b.file_mtime_ns, coalesce(b.account, '') AS account,
        coalesce(b.model, '') AS model, b.class, coalesce(b.line_item, '') AS line_item, coalesce(b.currency, '') AS currency,
        b.payer, b.cost, o.page IS NOT NULL AS goes
    FROM billed b
    LEFT JOIN overtaken_billed o
        ON b.source = o.source AND b.report = o.report AND b.scope = o.scope AND b.day = cast(o.day AS DATE)
        AND coalesce(b.last_day, b.day) = cast(o.last_day AS DATE) AND b.export = o.export AND b.page = o.page
    WHERE b.cost IS NOT NULL AND (b.source, b.report, b.scope, b.day)
        IN (SELECT d.source, d.report, d.scope, cast(d.day AS DATE) FROM overtaken_billed d)
),
standing AS (
    SELECT
        source, report, scope, day, account, model, class, line_item, currency,
        sum(cost) AS new_cost
    FROM told
    WHERE NOT goes
    GROUP BY source, report, scope, day, account, model, class, line_item, currency
),
newest AS (
    SELECT source, report, scope, day, max(file) AS newer FROM told WHERE NOT goes GROUP BY source, report, scope, day
),
going AS (
    SELECT
        source, report, scope, day, file, path, account, model, class, line_item, currency,
        sum(cost) AS old_cost, count(payer) AS named,
        max(file_mtime_ns) >= (cast(day - DATE '1970-01-01' AS BIGINT) + 4) * 86400000000000 AS settled
    FROM told
    WHERE goes
    GROUP BY source, report, scope, day, file, path, account, model, class, line_item, currency
)
SELECT
    g.file, n.newer, g.currency, cast(min(g.day) AS VARCHAR) AS first, cast(max(g.day) AS VARCHAR) AS last,
    sum(g.old_cost) AS cost
FROM going g
INNER JOIN newest n ON g.source = n.source AND g.report = n.report AND g.scope = n.scope AND g.day = n.day
LEFT JOIN standing s
    ON g.source = s.source AND g.report = s.report AND g.scope = s.scope AND g.day = s.day AND g.account = s.account
    AND g.model = s.model AND g.class = s.class AND g.line_item = s.line_item AND g.currency = s.currency
WHERE g.old_cost <> 0
GROUP BY g.source, g.report, g.file, g.path, n.newer, g.currency
HAVING sum(CASE WHEN s.new_cost = g.old_cost THEN 1 ELSE 0 END) = 0
    AND sum(CASE WHEN s.new_cost IS NULL OR s.new_cost < g.old_cost
        OR (g.settled AND abs(s.new_cost) > 1.5 * abs(g.old_cost)) THEN 1 ELSE 0 END) > 0
    AND sum(g.named) = 0
ORDER BY g.file, n.newer, g.currency
