-- Cost, requests and tokens a day of series_days for the $top largest {column} values of {facts} in [from_us, to_us)
-- and one line named NULL for all the others: place, name, members, day (NULL: without a time), cost_pusd, requests,
-- tokens. A day without rows is absent.
WITH buckets AS (
    SELECT
        at_us,
        {column} AS name,
        sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd,
        sum(requests) AS requests,
        sum(CASE WHEN coalesce(
            tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
            tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
            tok_output_image
        ) IS NOT NULL THEN
            coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
            + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0)
            + coalesce(tok_cache_write_12h, 0) + coalesce(tok_input_audio, 0)
            + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0) + coalesce(tok_output, 0)
            + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0) + coalesce(tok_output_image, 0) END) AS tokens
    FROM {facts}
    WHERE at_us >= $from_us AND at_us < $to_us
    GROUP BY at_us, {column}
),
sums AS (
    SELECT name, sum(cost_pusd) AS cost_pusd, sum(requests) AS requests FROM buckets GROUP BY name
),
ranked AS (
    SELECT name, cast(row_number() OVER (ORDER BY cost_pusd DESC NULLS LAST, requests DESC, name) AS BIGINT) AS place FROM sums
),
folded AS (
    SELECT
        name,
        CASE WHEN place <= $top THEN name END AS shown,
        CASE WHEN place <= $top THEN place ELSE $top + 1 END AS line
    FROM ranked
),
sizes AS (
    SELECT line, count(*) AS members FROM folded GROUP BY line
)
SELECT
    f.line,
    f.shown,
    max(s.members) AS members,
    d.day,
    sum(b.cost_pusd) AS cost_pusd,
    sum(b.requests) AS requests,
    sum(b.tokens) AS tokens
FROM buckets b
JOIN folded f ON f.name = b.name
JOIN sizes s ON s.line = f.line
LEFT JOIN series_days d ON b.at_us >= d.day_from_us AND b.at_us < d.day_to_us
GROUP BY f.line, f.shown, d.day
ORDER BY f.line, d.day
