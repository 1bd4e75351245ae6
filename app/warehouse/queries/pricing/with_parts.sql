-- Priced requests, those billed in parts as the sum of their parts; fees stay those of the request.
-- A request is partly priced as soon as one of its parts is not, or its units ({requests}: request_key, units) have no
-- fee. Columns: those of pricing.priced.
WITH folded AS (
    SELECT
        request_key,
        cast(sum(cast(input_pusd AS DECIMAL(38, 0))) AS BIGINT) AS input_pusd,
        cast(sum(cast(cache_read_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cache_read_pusd,
        cast(sum(cast(cache_write_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cache_write_pusd,
        cast(sum(cast(output_pusd AS DECIMAL(38, 0))) AS BIGINT) AS output_pusd,
        cast(sum(cast(reasoning_pusd AS DECIMAL(38, 0))) AS BIGINT) AS reasoning_pusd,
        cast(sum(cast(cost_list_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cost_list_pusd,
        cast(sum(cast(cost_pusd AS DECIMAL(38, 0))) AS BIGINT) AS cost_pusd,
        min(price_row) AS price_row,
        count(DISTINCT price_row) AS n_rows,
        sum(CASE WHEN cost_state = 'priced' THEN 0 ELSE 1 END) AS n_not_priced
    FROM {parts}
    GROUP BY request_key
)

SELECT
    p.request_key, p.provider_id, p.model_id,
    CASE WHEN f.request_key IS NULL THEN p.input_pusd ELSE f.input_pusd END AS input_pusd,
    CASE WHEN f.request_key IS NULL THEN p.cache_read_pusd ELSE f.cache_read_pusd END AS cache_read_pusd,
    CASE WHEN f.request_key IS NULL THEN p.cache_write_pusd ELSE f.cache_write_pusd END AS cache_write_pusd,
    CASE WHEN f.request_key IS NULL THEN p.output_pusd ELSE f.output_pusd END AS output_pusd,
    CASE WHEN f.request_key IS NULL THEN p.reasoning_pusd ELSE f.reasoning_pusd END AS reasoning_pusd,
    CASE WHEN f.request_key IS NULL OR f.cost_pusd IS NOT NULL THEN p.other_pusd END AS other_pusd,
    CASE WHEN f.request_key IS NULL THEN p.cost_list_pusd
        ELSE f.cost_list_pusd + coalesce(p.other_pusd, 0) END AS cost_list_pusd,
    CASE WHEN f.request_key IS NULL THEN p.cost_pusd ELSE f.cost_pusd + coalesce(p.other_pusd, 0) END AS cost_pusd,
    CASE
        WHEN f.request_key IS NULL THEN p.price_row
        WHEN f.n_rows > 1 THEN f.price_row || ' and ' || cast(f.n_rows - 1 AS VARCHAR) || ' more'
        ELSE f.price_row
    END AS price_row,
    p.price_book,
    CASE
        WHEN f.request_key IS NULL OR p.cost_state = 'not_billed' THEN p.cost_state
        WHEN f.cost_pusd IS NULL THEN 'unpriced'
        WHEN f.n_not_priced > 0 OR (r.units IS NOT NULL AND p.other_pusd IS NULL) THEN 'partly'
        ELSE 'priced'
    END AS cost_state,
    CASE WHEN f.cost_pusd IS NULL THEN p.price_warning END AS price_warning
FROM {priced} AS p
JOIN {requests} AS r ON r.request_key = p.request_key
LEFT JOIN folded AS f ON f.request_key = p.request_key
