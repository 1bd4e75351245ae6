-- One page of the stored requests in the order of their places, after the given place: every column of requests that
-- inspection shows.
SELECT
    request_key, source, source_record, origin_file, origin_line, provider_response_id, trace_id, parent_id, session_id,
    account, api_key_alias, tags, provider, model, model_id, operation, region, service_tier, is_batch, stream,
    max_tokens, temperature, top_p, n, seed, response_format, reasoning_effort, price_context, start_us, first_token_us,
    end_us, status, http_status, finish_reason, attempt, retry_of, error, tok_input, tok_cache_read,
    tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h, tok_input_audio,
    tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio, tok_output_image,
    tok_total_reported, calls_summed, units, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd,
    cost_list_pusd, cost_pusd, cost_reported_pusd, price_row, price_book, cost_state, exact_key, prefix_scope,
    prompt_bytes, warnings
FROM requests
WHERE
    origin_file > $file
    OR (origin_file = $file AND origin_line > $line)
    OR (origin_file = $file AND origin_line = $line AND request_key > $key)
ORDER BY origin_file, origin_line, request_key
LIMIT $size
