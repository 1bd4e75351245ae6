-- The temporary table {into}: the requests of {requests} (ledger.usage) whose figures in {fresh} differ from those that
-- stand, or one of whose parts is in {parts}; was_* is what stands. Another price book alone is no difference: the row
-- that priced the request says the same in both.
-- reason: priced, unpriced (a cost became known, unknown), completed, less_complete (of a part of the classes), other_row
-- (another price row holds), corrected (the same row says another rate), same_cost (only the names around it).
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    u.at_us AS at_us, u.request_key AS request_key, u.start_us AS start_us, u.fullness AS fullness, u.counted AS counted,
    n.provider AS provider, n.model_id AS model_id, n.input_pusd AS input_pusd, n.cache_read_pusd AS cache_read_pusd,
    n.cache_write_pusd AS cache_write_pusd, n.output_pusd AS output_pusd, n.reasoning_pusd AS reasoning_pusd,
    n.other_pusd AS other_pusd, n.cost_list_pusd AS cost_list_pusd, n.cost_pusd AS cost_pusd, n.price_row AS price_row,
    n.price_book AS price_book, n.cost_state AS cost_state, n.warnings AS warnings,
    u.was_provider AS was_provider, u.was_model_id AS was_model_id, u.was_input_pusd AS was_input_pusd,
    u.was_cache_read_pusd AS was_cache_read_pusd, u.was_cache_write_pusd AS was_cache_write_pusd,
    u.was_output_pusd AS was_output_pusd,
    u.was_reasoning_pusd AS was_reasoning_pusd, u.was_other_pusd AS was_other_pusd,
    u.was_cost_list_pusd AS was_cost_list_pusd, u.was_cost_pusd AS was_cost_pusd, u.was_price_row AS was_price_row,
    u.was_price_book AS was_price_book,
    u.was_cost_state AS was_cost_state, u.was_warnings AS was_warnings,
    CASE
        WHEN u.was_cost_pusd IS NULL AND n.cost_pusd IS NOT NULL THEN 'priced'
        WHEN u.was_cost_pusd IS NOT NULL AND n.cost_pusd IS NULL THEN 'unpriced'
        WHEN u.was_cost_state = 'partly' AND n.cost_state = 'priced' THEN 'completed'
        WHEN u.was_cost_state = 'priced' AND n.cost_state = 'partly' THEN 'less_complete'
        WHEN u.was_cost_pusd IS NOT DISTINCT FROM n.cost_pusd THEN 'same_cost'
        WHEN u.was_price_row IS DISTINCT FROM n.price_row THEN 'other_row'
        ELSE 'corrected'
    END AS reason
FROM {requests} AS u
INNER JOIN {fresh} AS n ON n.request_key = u.request_key
WHERE u.was_provider IS DISTINCT FROM n.provider
    OR u.was_model_id IS DISTINCT FROM n.model_id
    OR u.was_input_pusd IS DISTINCT FROM n.input_pusd
    OR u.was_cache_read_pusd IS DISTINCT FROM n.cache_read_pusd
    OR u.was_cache_write_pusd IS DISTINCT FROM n.cache_write_pusd
    OR u.was_output_pusd IS DISTINCT FROM n.output_pusd
    OR u.was_reasoning_pusd IS DISTINCT FROM n.reasoning_pusd
    OR u.was_other_pusd IS DISTINCT FROM n.other_pusd
    OR u.was_cost_list_pusd IS DISTINCT FROM n.cost_list_pusd
    OR u.was_cost_pusd IS DISTINCT FROM n.cost_pusd
    OR u.was_price_row IS DISTINCT FROM n.price_row
    OR u.was_cost_state IS DISTINCT FROM n.cost_state
    OR u.was_warnings IS DISTINCT FROM n.warnings
    OR u.request_key IN (SELECT request_key FROM {parts})
