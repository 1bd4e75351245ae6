-- spend_facts says which of its rows stand on a bill alone, as attributed_spend_facts does.
CREATE OR REPLACE VIEW spend_facts AS
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, api_key, user_name, status,
    requests, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd,
    reasoning_pusd, other_pusd, cost_pusd, cost_list_pusd, cost_reported_pusd, last_us,
    cast(NULL AS VARCHAR) AS assigned_by
FROM request_facts
UNION ALL
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, 'unassigned' AS api_key,
    'unassigned' AS user_name, 'unassigned' AS status, requests, tok_input, tok_cache_read, tok_cache_write_5m,
    tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h, tok_input_audio, tok_cache_read_audio,
    tok_input_image, tok_output, tok_reasoning, tok_output_audio, tok_output_image, input_pusd,
    cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd, cost_pusd, cost_list_pusd,
    cost_reported_pusd, at_us AS last_us, 'bill' AS assigned_by
FROM bill_facts;
