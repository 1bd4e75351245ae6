-- The days that Spend takes from bills, as they stand: every column of bill_facts.
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, requests, tok_input,
    tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
    tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
    tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd,
    cost_pusd, cost_list_pusd, cost_reported_pusd, charge, units
FROM bill_facts
