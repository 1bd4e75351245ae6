-- The temporary table {into}: each request of {figures} (request_key, token classes, units, six parts of its cost,
-- price_row, price_book) as one line a token class in use, and one for its fees. Columns: request_key, class, tokens
-- (NULL for fees), cost_pusd (NULL: unknown), rate (pico-USD a token; NULL where the row that priced it is not here).
-- Lines add up to the parts, part by part: where a part holds several classes, each is tokens x rate, and the first
-- takes what rounding leaves. Without the rates such a part is one line, named '<part>_mixed'. A request of which
-- nothing is known but that it was made is the line 'usage_unknown'.
CREATE OR REPLACE TEMP TABLE {into} AS
WITH rated AS (
    SELECT
        f.request_key, f.units,
        f.tok_input, f.tok_cache_read, f.tok_cache_write_5m, f.tok_cache_write_30m, f.tok_cache_write_1h,
            f.tok_cache_write_12h,
        f.tok_input_audio, f.tok_cache_read_audio, f.tok_input_image, f.tok_output, f.tok_reasoning,
        f.tok_output_audio, f.tok_output_image,
        f.input_pusd, f.cache_read_pusd, f.cache_write_pusd, f.output_pusd, f.reasoning_pusd, f.other_pusd,
        p.price_row IS NOT NULL AS rated,
        p.r_input, p.r_cache_read, p.r_cache_write_5m, p.r_cache_write_30m, p.r_cache_write_1h, p.r_cache_write_12h,
        p.r_input_audio, p.r_cache_read_audio, p.r_input_image, p.r_output, p.r_reasoning,
        p.r_output_audio, p.r_output_image,
        CASE WHEN f.tok_input > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_input_audio > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_input_image > 0 THEN 1 ELSE 0 END AS n_input,
        CASE WHEN f.tok_cache_read > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_cache_read_audio > 0 THEN 1 ELSE 0 END AS n_cache_read,
        CASE WHEN f.tok_cache_write_5m > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_cache_write_30m > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_cache_write_1h > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_cache_write_12h > 0 THEN 1 ELSE 0 END AS n_cache_write,
        CASE WHEN f.tok_output > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_output_audio > 0 THEN 1 ELSE 0 END
            + CASE WHEN f.tok_output_image > 0 THEN 1 ELSE 0 END AS n_output
    FROM {figures} AS f
    LEFT JOIN price_rates AS p ON p.book = f.price_book AND p.price_row = f.price_row
),

shared AS (
    SELECT
        *,
        CASE WHEN tok_input_audio > 0
            THEN cast(round(cast(tok_input_audio AS DECIMAL(14, 0)) * r_input_audio) AS BIGINT) END AS x_input_audio,
        CASE WHEN tok_input_image > 0
            THEN cast(round(cast(tok_input_image AS DECIMAL(14, 0)) * r_input_image) AS BIGINT) END AS x_input_image,
        CASE WHEN tok_cache_read_audio > 0
            THEN cast(round(cast(tok_cache_read_audio AS DECIMAL(14, 0)) * r_cache_read_audio) AS
                BIGINT) END AS x_cache_read_audio,
        CASE WHEN tok_cache_write_30m > 0
            THEN cast(round(cast(tok_cache_write_30m AS DECIMAL(14, 0)) * r_cache_write_30m) AS
                BIGINT) END AS x_cache_write_30m,
        CASE WHEN tok_cache_write_1h > 0
            THEN cast(round(cast(tok_cache_write_1h AS DECIMAL(14, 0)) * r_cache_write_1h) AS BIGINT)
                END AS x_cache_write_1h,
        CASE WHEN tok_cache_write_12h > 0
            THEN cast(round(cast(tok_cache_write_12h AS DECIMAL(14, 0)) * r_cache_write_12h) AS
                BIGINT) END AS x_cache_write_12h,
        CASE WHEN tok_output_audio > 0
            THEN cast(round(cast(tok_output_audio AS DECIMAL(14, 0)) * r_output_audio) AS BIGINT) END AS x_output_audio,
        CASE WHEN tok_output_image > 0
            THEN cast(round(cast(tok_output_image AS DECIMAL(14, 0)) * r_output_image) AS BIGINT) END AS x_output_image
    FROM rated
)

SELECT
    request_key, 'input' AS class, tok_input AS tokens,
    CASE
        WHEN n_input = 1 THEN input_pusd
        WHEN r_input IS NULL THEN nullif(input_pusd - coalesce(x_input_audio, 0) - coalesce(x_input_image, 0), 0)
        ELSE input_pusd - coalesce(x_input_audio, 0) - coalesce(x_input_image, 0)
    END AS cost_pusd,
    r_input AS rate
FROM shared
WHERE tok_input > 0 AND (rated OR n_input = 1)
UNION ALL
SELECT
    request_key, 'input_audio' AS class, tok_input_audio AS tokens,
    CASE
        WHEN n_input = 1 THEN input_pusd
        WHEN tok_input > 0 THEN x_input_audio
        WHEN r_input_audio IS NULL THEN nullif(input_pusd - coalesce(x_input_image, 0), 0)
        ELSE input_pusd - coalesce(x_input_image, 0)
    END AS cost_pusd,
    r_input_audio AS rate
FROM shared
WHERE tok_input_audio > 0 AND (rated OR n_input = 1)
UNION ALL
SELECT
    request_key, 'input_image' AS class, tok_input_image AS tokens,
    CASE
        WHEN n_input = 1 THEN input_pusd
        WHEN tok_input > 0 OR tok_input_audio > 0 THEN x_input_image
    END AS cost_pusd,
    r_input_image AS rate
FROM shared
WHERE tok_input_image > 0 AND (rated OR n_input = 1)
UNION ALL
SELECT
    request_key, 'input_mixed' AS class,
    nullif(coalesce(tok_input, 0) + coalesce(tok_input_audio, 0) + coalesce(tok_input_image, 0), 0) AS tokens,
    input_pusd AS cost_pusd, cast(NULL AS DECIMAL(24, 6)) AS rate
FROM shared
WHERE (NOT rated AND n_input > 1) OR (n_input = 0 AND input_pusd <> 0)
UNION ALL
SELECT
    request_key, 'cache_read' AS class, tok_cache_read AS tokens,
    CASE
        WHEN n_cache_read = 1 THEN cache_read_pusd
        WHEN r_cache_read IS NULL THEN nullif(cache_read_pusd - coalesce(x_cache_read_audio, 0), 0)
        ELSE cache_read_pusd - coalesce(x_cache_read_audio, 0)
    END AS cost_pusd,
    r_cache_read AS rate
FROM shared
WHERE tok_cache_read > 0 AND (rated OR n_cache_read = 1)
UNION ALL
SELECT
    request_key, 'cache_read_audio' AS class, tok_cache_read_audio AS tokens,
    CASE
        WHEN n_cache_read = 1 THEN cache_read_pusd
        WHEN tok_cache_read > 0 THEN x_cache_read_audio
    END AS cost_pusd,
    r_cache_read_audio AS rate
FROM shared
WHERE tok_cache_read_audio > 0 AND (rated OR n_cache_read = 1)
UNION ALL
SELECT
    request_key, 'cache_read_mixed' AS class,
    nullif(coalesce(tok_cache_read, 0) + coalesce(tok_cache_read_audio, 0), 0) AS tokens,
    cache_read_pusd AS cost_pusd, cast(NULL AS DECIMAL(24, 6)) AS rate
FROM shared
WHERE (NOT rated AND n_cache_read > 1) OR (n_cache_read = 0 AND cache_read_pusd <> 0)
UNION ALL
SELECT
    request_key, 'cache_write_5m' AS class, tok_cache_write_5m AS tokens,
    CASE
        WHEN n_cache_write = 1 THEN cache_write_pusd
        WHEN r_cache_write_5m IS NULL THEN nullif(cache_write_pusd - coalesce(x_cache_write_30m, 0) -
            coalesce(x_cache_write_1h, 0) - coalesce(x_cache_write_12h, 0), 0)
        ELSE cache_write_pusd - coalesce(x_cache_write_30m, 0) - coalesce(x_cache_write_1h, 0) -
            coalesce(x_cache_write_12h, 0)
    END AS cost_pusd,
    r_cache_write_5m AS rate
FROM shared
WHERE tok_cache_write_5m > 0 AND (rated OR n_cache_write = 1)
UNION ALL
SELECT
    request_key, 'cache_write_30m' AS class, tok_cache_write_30m AS tokens,
    CASE
        WHEN n_cache_write = 1 THEN cache_write_pusd
        WHEN tok_cache_write_5m > 0 THEN x_cache_write_30m
        WHEN r_cache_write_30m IS NULL THEN nullif(cache_write_pusd - coalesce(x_cache_write_1h, 0) -
            coalesce(x_cache_write_12h, 0), 0)
        ELSE cache_write_pusd - coalesce(x_cache_write_1h, 0) - coalesce(x_cache_write_12h, 0)
    END AS cost_pusd,
    r_cache_write_30m AS rate
FROM shared
WHERE tok_cache_write_30m > 0 AND (rated OR n_cache_write = 1)
UNION ALL
SELECT
    request_key, 'cache_write_1h' AS class, tok_cache_write_1h AS tokens,
    CASE
        WHEN n_cache_write = 1 THEN cache_write_pusd
        WHEN tok_cache_write_5m > 0 OR tok_cache_write_30m > 0 THEN x_cache_write_1h
        WHEN r_cache_write_1h IS NULL THEN nullif(cache_write_pusd - coalesce(x_cache_write_12h, 0), 0)
        ELSE cache_write_pusd - coalesce(x_cache_write_12h, 0)
    END AS cost_pusd,
    r_cache_write_1h AS rate
FROM shared
WHERE tok_cache_write_1h > 0 AND (rated OR n_cache_write = 1)
UNION ALL
SELECT
    request_key, 'cache_write_12h' AS class, tok_cache_write_12h AS tokens,
    CASE
        WHEN n_cache_write = 1 THEN cache_write_pusd
        WHEN tok_cache_write_5m > 0 OR tok_cache_write_30m > 0 OR tok_cache_write_1h > 0 THEN x_cache_write_12h
    END AS cost_pusd,
    r_cache_write_12h AS rate
FROM shared
WHERE tok_cache_write_12h > 0 AND (rated OR n_cache_write = 1)
UNION ALL
SELECT
    request_key, 'cache_write_mixed' AS class,
    nullif(coalesce(tok_cache_write_5m, 0) + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h,
        0) + coalesce(tok_cache_write_12h, 0), 0) AS tokens,
    cache_write_pusd AS cost_pusd, cast(NULL AS DECIMAL(24, 6)) AS rate
FROM shared
WHERE (NOT rated AND n_cache_write > 1) OR (n_cache_write = 0 AND cache_write_pusd <> 0)
UNION ALL
SELECT
    request_key, 'output' AS class, tok_output AS tokens,
    CASE
        WHEN n_output = 1 THEN output_pusd
        WHEN r_output IS NULL THEN nullif(output_pusd - coalesce(x_output_audio, 0) - coalesce(x_output_image, 0), 0)
        ELSE output_pusd - coalesce(x_output_audio, 0) - coalesce(x_output_image, 0)
    END AS cost_pusd,
    r_output AS rate
FROM shared
WHERE tok_output > 0 AND (rated OR n_output = 1)
UNION ALL
SELECT
    request_key, 'output_audio' AS class, tok_output_audio AS tokens,
    CASE
        WHEN n_output = 1 THEN output_pusd
        WHEN tok_output > 0 THEN x_output_audio
        WHEN r_output_audio IS NULL THEN nullif(output_pusd - coalesce(x_output_image, 0), 0)
        ELSE output_pusd - coalesce(x_output_image, 0)
    END AS cost_pusd,
    r_output_audio AS rate
FROM shared
WHERE tok_output_audio > 0 AND (rated OR n_output = 1)
UNION ALL
SELECT
    request_key, 'output_image' AS class, tok_output_image AS tokens,
    CASE
        WHEN n_output = 1 THEN output_pusd
        WHEN tok_output > 0 OR tok_output_audio > 0 THEN x_output_image
    END AS cost_pusd,
    r_output_image AS rate
FROM shared
WHERE tok_output_image > 0 AND (rated OR n_output = 1)
UNION ALL
SELECT
    request_key, 'output_mixed' AS class,
    nullif(coalesce(tok_output, 0) + coalesce(tok_output_audio, 0) + coalesce(tok_output_image, 0), 0) AS tokens,
    output_pusd AS cost_pusd, cast(NULL AS DECIMAL(24, 6)) AS rate
FROM shared
WHERE (NOT rated AND n_output > 1) OR (n_output = 0 AND output_pusd <> 0)
UNION ALL
SELECT
    request_key, 'reasoning' AS class, tok_reasoning AS tokens,
    reasoning_pusd AS cost_pusd,
    r_reasoning AS rate
FROM shared
WHERE tok_reasoning > 0 OR reasoning_pusd <> 0
UNION ALL
SELECT
    request_key, 'fees' AS class, cast(NULL AS BIGINT) AS tokens, other_pusd AS cost_pusd,
    cast(NULL AS DECIMAL(24, 6)) AS rate
FROM shared
WHERE other_pusd <> 0 OR (units IS NOT NULL AND other_pusd IS NULL)
UNION ALL
SELECT
    request_key, 'usage_unknown' AS class, cast(NULL AS BIGINT) AS tokens, cast(NULL AS BIGINT) AS cost_pusd,
    cast(NULL AS DECIMAL(24, 6)) AS rate
FROM shared
WHERE units IS NULL AND coalesce(other_pusd, 0) = 0
    AND tok_input IS NULL AND tok_cache_read IS NULL AND tok_cache_write_5m IS NULL AND tok_cache_write_30m IS
        NULL AND tok_cache_write_1h IS NULL AND tok_cache_write_12h IS NULL
    AND tok_input_audio IS NULL AND tok_cache_read_audio IS NULL AND tok_input_image IS NULL AND tok_output IS NULL
    AND tok_reasoning IS NULL AND tok_output_audio IS NULL AND tok_output_image IS NULL
