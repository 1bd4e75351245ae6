-- Adds to {into} (export.requests) the days of [from_us, to_us) that only a bill knows, each as one row with a key of its
-- own far below those of requests; calls is what the bill counts, NULL where it counts none.
INSERT INTO {into} (
    at_us, request_key, source, cost_state, provider, account, model_id, service_tier, is_batch, operation, status,
    fullness, feature, team, environment, assigned_by, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd,
    other_pusd, cost_pusd, cost_list_pusd, cost_reported_pusd, calls, charge, units
)
SELECT
    at_us, -9223372036854775807 + row_number() OVER (ORDER BY at_us, source, provider, account, model_id), source,
    cost_state, provider, nullif(account, 'unassigned'), nullif(model_id, 'unassigned'),
    nullif(service_tier, 'unassigned'), is_batch = 'true', 'bill', 'ok', 0, 'unassigned', 'unassigned', 'unassigned',
    'bill', tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd,
    other_pusd, cost_pusd, cost_list_pusd, cost_reported_pusd, nullif(requests, 0), charge, units
FROM bill_facts
WHERE at_us >= $from_us AND at_us < $to_us
