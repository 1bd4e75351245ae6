-- The temporary table {into}: {requests} (export.requests) with the figures of {images} (ledger.same_call) where there
-- are any.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    r.* REPLACE (
        CASE WHEN i.request_key IS NULL THEN r.provider ELSE i.provider END AS provider,
        CASE WHEN i.request_key IS NULL THEN r.model_id ELSE i.model_id END AS model_id,
        CASE WHEN i.request_key IS NULL THEN r.input_pusd ELSE i.input_pusd END AS input_pusd,
        CASE WHEN i.request_key IS NULL THEN r.cache_read_pusd ELSE i.cache_read_pusd END AS cache_read_pusd,
        CASE WHEN i.request_key IS NULL THEN r.cache_write_pusd ELSE i.cache_write_pusd END AS cache_write_pusd,
        CASE WHEN i.request_key IS NULL THEN r.output_pusd ELSE i.output_pusd END AS output_pusd,
        CASE WHEN i.request_key IS NULL THEN r.reasoning_pusd ELSE i.reasoning_pusd END AS reasoning_pusd,
        CASE WHEN i.request_key IS NULL THEN r.other_pusd ELSE i.other_pusd END AS other_pusd,
        CASE WHEN i.request_key IS NULL THEN r.cost_list_pusd ELSE i.cost_list_pusd END AS cost_list_pusd,
        CASE WHEN i.request_key IS NULL THEN r.cost_pusd ELSE i.cost_pusd END AS cost_pusd,
        CASE WHEN i.request_key IS NULL THEN r.price_row ELSE i.price_row END AS price_row,
        CASE WHEN i.request_key IS NULL THEN r.price_book ELSE i.price_book END AS price_book,
        CASE WHEN i.request_key IS NULL THEN r.cost_state ELSE i.cost_state END AS cost_state,
        CASE WHEN i.request_key IS NULL THEN r.warnings ELSE i.warnings END AS warnings
    )
FROM {requests} AS r
LEFT JOIN {images} AS i ON i.request_key = r.request_key
