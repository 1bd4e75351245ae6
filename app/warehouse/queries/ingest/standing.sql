-- The stored rows of the keys in incoming_keys, in the columns that a merge compares.
SELECT
    request_key, source, source_record, origin_file, origin_line, provider_response_id, trace_id, parent_id, session_id,
    account, user_hash, api_key_hash, api_key_alias, tags, provider, model, operation, region, service_tier, is_batch,
    stream, params_hash, max_tokens, temperature, top_p, n, seed, stop_hash, response_format, reasoning_effort,
    price_context, start_us, first_token_us, end_us, itl_p50_us, itl_p99_us, status, http_status, finish_reason, attempt,
    retry_of, error, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, tok_total_reported, calls_summed, units, cost_reported_pusd, exact_key, prefix_scope,
    prompt_bytes, out_hash, warnings, fullness, cost_state = 'not_billed' AS not_billed
FROM requests
WHERE request_key IN (SELECT request_key FROM incoming_keys)
