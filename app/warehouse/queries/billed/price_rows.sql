-- The price rows that most requests of the days of {days}(day_us: a UTC day's start) were priced by, one a day, provider and
-- model: at_us (noon UTC), provider, model_id, price_row.
WITH used AS (
    SELECT
        start_us - start_us % 86400000000 + 43200000000 AS at_us, provider, coalesce(model_id, model) AS model_id, price_row,
        count(*) AS requests
    FROM requests
    WHERE start_us - start_us % 86400000000 IN (SELECT day_us FROM {days}) AND price_row IS NOT NULL
    GROUP BY start_us - start_us % 86400000000, provider, coalesce(model_id, model), price_row
),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY at_us, provider, model_id ORDER BY requests DESC, price_row) AS place FROM used
)
SELECT at_us, provider, model_id, price_row FROM ranked WHERE place = 1
