-- The dearest lines of bills on the days of {days}(day_us: a UTC day's start), at most $most a day, provider, model and
-- class: at_us (noon UTC), provider, account, model_id (as in bill_lines), class, kind, source, file, line, line_item, quantity, cost, currency.
WITH names AS (
    SELECT provider AS named_by, model AS named, max(model_id) AS model_id FROM bill_lines GROUP BY provider, model
),
ranked AS (
    SELECT
        cast(day - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS at_us,
        provider, account, model_id, class, kind, source, file, line, line_item, quantity, cost, currency,
        row_number() OVER (
            PARTITION BY day, provider, account, model, class, kind
            ORDER BY abs(coalesce(cost, 0)) DESC, quantity DESC NULLS LAST, file, line
        ) AS place
    FROM billed
    LEFT JOIN names ON named_by = provider AND named = model
    WHERE cast(day - DATE '1970-01-01' AS BIGINT) * 86400000000 IN (SELECT day_us FROM {days}) AND kind <> 'other'
)
SELECT at_us, provider, account, model_id, class, kind, source, file, line, line_item, quantity, cost, currency
FROM ranked
WHERE place <= $most
ORDER BY at_us, provider, account, model_id, class, kind, place
