-- The requests of [from_us, to_us) whose key falls into $piece of $pieces: what pricing needs of each, and under was_*
-- the figures that stand. Columns: at_us, those that pricing.priced and pricing.charged read, not_billed, fullness,
-- counted (false where another source tells of the same call and counts).
SELECT
    at_us, request_key, provider, model, service_tier, is_batch, region, price_context, account, start_us,
    tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
    tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
    tok_output_image, tok_total_reported, calls_summed, units, cost_reported_pusd, warnings, status, finish_reason,
    cost_state = 'not_billed' AS not_billed, fullness,
    NOT EXISTS (SELECT 1 FROM held_out AS h WHERE h.request_key = r.request_key) AS counted,
    provider AS was_provider, model_id AS was_model_id, input_pusd AS was_input_pusd,
    cache_read_pusd AS was_cache_read_pusd, cache_write_pusd AS was_cache_write_pusd, output_pusd AS was_output_pusd,
    reasoning_pusd AS was_reasoning_pusd, other_pusd AS was_other_pusd, cost_list_pusd AS was_cost_list_pusd,
    cost_pusd AS was_cost_pusd, price_row AS was_price_row, price_book AS was_price_book,
    cost_state AS was_cost_state, warnings AS was_warnings
FROM (
    SELECT start_us AS at_us, * FROM requests WHERE start_us IS NOT NULL
    UNION ALL
    SELECT cast(0 AS BIGINT) AS at_us, * FROM requests WHERE start_us IS NULL
) AS r
WHERE at_us >= $from_us AND at_us < $to_us AND (request_key % $pieces + $pieces) % $pieces = $piece
