-- Costs of requests where no price book is at hand: request_key, provider_id, model_id, six parts, list and contract
-- cost, row, book, state, price_warning. Unknown is NULL; only a call that was not billed is known to have cost nothing.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    request_key,
    provider AS provider_id,
    model AS model_id,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS input_pusd,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS cache_read_pusd,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS cache_write_pusd,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS output_pusd,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS reasoning_pusd,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS other_pusd,
    cast(NULL AS BIGINT) AS cost_list_pusd,
    cast(CASE WHEN cost_state = 'not_billed' THEN 0 END AS BIGINT) AS cost_pusd,
    cast(NULL AS VARCHAR) AS price_row,
    cast(NULL AS VARCHAR) AS price_book,
    coalesce(cost_state, 'unpriced') AS cost_state,
    cast(NULL AS VARCHAR) AS price_warning
FROM {requests}
