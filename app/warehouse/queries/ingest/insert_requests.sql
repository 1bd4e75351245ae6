-- Stores the rows of incoming with the prices of incoming_priced.
-- Where the price context says that the provider's own response reported its charge, that is what was paid: alone where
-- no rate is known, else what it holds beyond the rates (a fee) stands in other_pusd. Any other reported cost is a
-- claim of the logger's: kept beside, flagged where it differs from both prices by more than 1 % and $0.000001.
INSERT INTO requests (
    request_key, source, source_record, origin_file, origin_line, provider_response_id, trace_id, parent_id, session_id,
    account, user_hash, api_key_hash, api_key_alias, tags, provider, model, model_id, operation, region, service_tier,
    is_batch, stream, params_hash, max_tokens, temperature, top_p, n, seed, stop_hash, response_format, reasoning_effort,
    price_context, start_us, first_token_us, end_us, itl_p50_us, itl_p99_us, status, http_status, finish_reason, attempt,
    retry_of, error, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, tok_total_reported, units, input_pusd, cache_read_pusd, cache_write_pusd,
    output_pusd, reasoning_pusd, other_pusd, cost_list_pusd, cost_pusd, cost_reported_pusd, price_row, price_book,
    cost_state, exact_key, prefix_scope, prompt_bytes, out_hash, warnings, fullness
)
WITH charged AS (
    SELECT
        p.*,
        i.model,
        i.cost_reported_pusd,
        CASE
            WHEN i.price_context LIKE '%"charge": "reported"%'
                AND p.cost_state <> 'not_billed'
                AND i.cost_reported_pusd > coalesce(p.cost_pusd, -1)
                THEN i.cost_reported_pusd - coalesce(p.cost_pusd, 0)
        END AS beyond_pusd
    FROM incoming_priced AS p
    INNER JOIN incoming AS i ON i.request_key = p.request_key
),

judged AS (
    SELECT
        *,
        CASE
            WHEN beyond_pusd > 0 AND model LIKE '%:free' THEN 'free_model_charged'
            WHEN beyond_pusd IS NOT NULL THEN NULL
            WHEN cost_state = 'priced'
                AND abs(cost_reported_pusd - cost_pusd) > greatest(cost_pusd / 100, 1000000)
                AND abs(cost_reported_pusd - coalesce(cost_list_pusd, cost_pusd))
                > greatest(coalesce(cost_list_pusd, cost_pusd) / 100, 1000000)
                THEN 'reported_cost_disagrees'
            ELSE price_warning
        END AS warning
    FROM charged
)

SELECT
    i.request_key, i.source, i.source_record, i.origin_file, i.origin_line, i.provider_response_id, i.trace_id,
    i.parent_id, i.session_id, i.account, i.user_hash, i.api_key_hash, i.api_key_alias, i.tags, coalesce(i.provider, p.provider_id), i.model,
    p.model_id, i.operation, i.region, i.service_tier, coalesce(i.is_batch, FALSE), i.stream, i.params_hash,
    i.max_tokens, i.temperature, i.top_p, i.n, i.seed, i.stop_hash, i.response_format, i.reasoning_effort,
    i.price_context, i.start_us, i.first_token_us, i.end_us, i.itl_p50_us, i.itl_p99_us, i.status, i.http_status,
    i.finish_reason, i.attempt, i.retry_of, i.error, i.tok_input, i.tok_cache_read, i.tok_cache_write_5m,
    i.tok_cache_write_30m, i.tok_cache_write_1h, i.tok_cache_write_12h, i.tok_input_audio, i.tok_cache_read_audio,
    i.tok_input_image, i.tok_output, i.tok_reasoning, i.tok_output_audio, i.tok_output_image, i.tok_total_reported,
    i.units, p.input_pusd, p.cache_read_pusd, p.cache_write_pusd, p.output_pusd, p.reasoning_pusd,
    CASE WHEN p.beyond_pusd IS NULL THEN p.other_pusd ELSE coalesce(p.other_pusd, 0) + p.beyond_pusd END,
    CASE
        WHEN p.beyond_pusd IS NULL THEN p.cost_list_pusd
        WHEN p.cost_pusd IS NULL THEN i.cost_reported_pusd
        ELSE p.cost_list_pusd + p.beyond_pusd
    END,
    CASE WHEN p.beyond_pusd IS NULL THEN p.cost_pusd ELSE i.cost_reported_pusd END,
    i.cost_reported_pusd,
    CASE WHEN p.beyond_pusd IS NOT NULL AND p.cost_pusd IS NULL THEN 'as charged by ' || coalesce(i.provider, 'the provider') ELSE p.price_row END,
    p.price_book,
    CASE WHEN p.beyond_pusd IS NULL THEN p.cost_state ELSE 'priced' END,
    i.exact_key,
    i.prefix_scope, i.prompt_bytes, i.out_hash,
    CASE
        WHEN p.warning IS NULL THEN i.warnings
        WHEN i.warnings IS NULL THEN p.warning
        ELSE i.warnings || ' ' || p.warning
    END,
    i.fullness
FROM incoming AS i
INNER JOIN judged AS p ON p.request_key = i.request_key
