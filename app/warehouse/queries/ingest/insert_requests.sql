-- Stores the rows of incoming with what incoming_charged says of their prices (pricing.charged).
INSERT INTO requests (
    request_key, source, source_record, origin_file, origin_line, provider_response_id, trace_id, parent_id, session_id,
    account, user_hash, api_key_hash, api_key_alias, tags, provider, model, model_id, operation, region, service_tier,
    is_batch, stream, params_hash, max_tokens, temperature, top_p, n, seed, stop_hash, response_format, reasoning_effort,
    price_context, start_us, first_token_us, end_us, itl_p50_us, itl_p99_us, status, http_status, finish_reason, attempt,
    retry_of, error, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, tok_total_reported, calls_summed, units, input_pusd, cache_read_pusd, cache_write_pusd,
    output_pusd, reasoning_pusd, other_pusd, cost_list_pusd, cost_pusd, cost_reported_pusd, price_row, price_book,
    cost_state, exact_key, prefix_scope, prompt_bytes, out_hash, warnings, fullness
)
SELECT
    i.request_key, i.source, i.source_record, i.origin_file, i.origin_line, i.provider_response_id, i.trace_id,
    i.parent_id, i.session_id, i.account, i.user_hash, i.api_key_hash, i.api_key_alias, i.tags, p.provider, i.model,
    p.model_id, i.operation, i.region, i.service_tier, coalesce(i.is_batch, FALSE), i.stream, i.params_hash,
    i.max_tokens, i.temperature, i.top_p, i.n, i.seed, i.stop_hash, i.response_format, i.reasoning_effort,
    i.price_context, i.start_us, i.first_token_us, i.end_us, i.itl_p50_us, i.itl_p99_us, i.status, i.http_status,
    i.finish_reason, i.attempt, i.retry_of, i.error, i.tok_input, i.tok_cache_read, i.tok_cache_write_5m,
    i.tok_cache_write_30m, i.tok_cache_write_1h, i.tok_cache_write_12h, i.tok_input_audio, i.tok_cache_read_audio,
    i.tok_input_image, i.tok_output, i.tok_reasoning, i.tok_output_audio, i.tok_output_image, i.tok_total_reported,
    i.calls_summed,
    i.units, p.input_pusd, p.cache_read_pusd, p.cache_write_pusd, p.output_pusd, p.reasoning_pusd, p.other_pusd,
    p.cost_list_pusd, p.cost_pusd, i.cost_reported_pusd, p.price_row, p.price_book, p.cost_state, i.exact_key,
    i.prefix_scope, i.prompt_bytes, i.out_hash, p.warnings, i.fullness
FROM incoming AS i
INNER JOIN incoming_charged AS p ON p.request_key = i.request_key
