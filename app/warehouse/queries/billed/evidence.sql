-- The dearest lines of bills of the days and models of {wanted}(at_us: noon UTC, named_by: provider, named: model as the bill
-- writes it, '' for none), at most $most a day, provider, account, model and class: at_us, provider, account, model_id (as in bill_lines),
-- class, kind, source, file, line, line_item, quantity, cost, currency.
WITH names AS (
    SELECT provider AS named_by, coalesce(model, '') AS named, max(model_id) AS model_id
    FROM bill_lines
    GROUP BY provider, coalesce(model, '')
),
ranked AS (
    SELECT
        w.at_us, b.provider, b.account, n.model_id, b.class, b.kind, b.source, b.file, b.line, b.line_item, b.quantity, b.cost,
        b.currency,
        row_number() OVER (
            PARTITION BY b.day, b.provider, b.account, b.model, b.class, b.kind
            ORDER BY abs(coalesce(b.cost, 0)) DESC, b.quantity DESC NULLS LAST, b.file, b.line
        ) AS place
    FROM billed AS b
    INNER JOIN {wanted} AS w
        ON w.at_us = cast(b.day - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000
        AND w.named_by = b.provider AND w.named = coalesce(b.model, '')
    LEFT JOIN names AS n ON n.named_by = b.provider AND n.named = coalesce(b.model, '')
    WHERE b.kind <> 'other'
)
SELECT at_us, provider, account, model_id, class, kind, source, file, line, line_item, quantity, cost, currency
FROM ranked
WHERE place <= $most
ORDER BY at_us, provider, account, model_id, class, kind, place
