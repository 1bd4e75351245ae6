-- Why do costs that sources reported differ from ours, among the requests of {facts} in [from_us, to_us)? A difference is
-- more than 1 % and $0.000001 from both our price and the list price. Each request has the first reason whose figure is
-- within 0.5 % (or $0.000001) of the report:
-- zero; cached_twice (cached tokens at the cached and again at the full rate); cached_full (at the full rate only);
-- cached_free; writes_free; writes_full (cache writes at the input rate); reasoning_twice; reasoning_free; fees_free;
-- standard_rate (twice ours, for batch and flex); batch_rate (half of ours); other_row (what another row of the same model
-- in the price book gives); cache_not_logged (no counter of cached tokens, and what the report leaves out is no more than
-- reading the whole prompt from the cache saves); sum_of_calls (the row sums calls of unknown lengths, and a long one costs
-- more than ours takes for it); unexplained.
-- Columns: source, provider, model_id, reason, requests, cost_pusd, reported_pusd, low, high (the smallest and largest
-- ratio of report to ours), example (the request with the largest difference), other_row.
WITH suspects AS (
    SELECT
        f.request_key, f.source, f.provider, f.model_id, f.is_batch, f.service_tier, f.cost_pusd, f.cost_reported_pusd,
        f.cache_read_pusd, f.cache_write_pusd, f.reasoning_pusd, f.other_pusd,
        f.tok_input, f.tok_cache_read, f.tok_cache_write_5m, f.tok_cache_write_30m, f.tok_cache_write_1h,
        f.tok_cache_write_12h, f.tok_input_audio, f.tok_cache_read_audio, f.tok_input_image, f.tok_output,
        f.tok_reasoning, f.tok_output_audio, f.tok_output_image
    FROM {facts} AS f
    WHERE f.at_us >= $from_us AND f.at_us < $to_us
        AND f.cost_state = 'priced'
        AND abs(f.cost_reported_pusd - f.cost_pusd) > greatest(f.cost_pusd / 100, 1000000)
        AND abs(f.cost_reported_pusd - coalesce(f.cost_list_pusd, f.cost_pusd))
        > greatest(coalesce(f.cost_list_pusd, f.cost_pusd) / 100, 1000000)
),

rated AS (
    SELECT
        s.*, r.warnings, p.rate_key, p.provider AS price_provider, p.price_model, r.price_book, r.price_row,
        greatest(s.cost_reported_pusd / 200, 1000000) AS near_pusd,
        (coalesce(s.tok_cache_read, 0) * p.r_input) AS cached_at_input,
        (s.tok_input * (p.r_input - p.r_cache_read)) AS cached_saves,
        (coalesce(s.tok_cache_write_5m, 0) + coalesce(s.tok_cache_write_30m, 0) + coalesce(s.tok_cache_write_1h, 0)
            + coalesce(s.tok_cache_write_12h, 0)) * p.r_input AS written_at_input
    FROM suspects AS s
    INNER JOIN requests AS r ON r.request_key = s.request_key
    LEFT JOIN price_rates AS p ON p.book = r.price_book AND p.price_row = r.price_row
),

at_other_rows AS (
    SELECT a.request_key, min(o.price_row) AS other_row
    FROM rated AS a
    INNER JOIN price_rates AS o
        ON o.book = a.price_book AND o.provider = a.price_provider AND o.price_model = a.price_model
        AND o.price_row <> a.price_row
    WHERE abs(
        a.cost_reported_pusd - coalesce(a.other_pusd, 0)
        - coalesce(a.tok_input * o.r_input, 0) - coalesce(a.tok_cache_read * o.r_cache_read, 0)
        - coalesce(a.tok_cache_write_5m * o.r_cache_write_5m, 0)
        - coalesce(a.tok_cache_write_30m * o.r_cache_write_30m, 0)
        - coalesce(a.tok_cache_write_1h * o.r_cache_write_1h, 0)
        - coalesce(a.tok_cache_write_12h * o.r_cache_write_12h, 0)
        - coalesce(a.tok_input_audio * o.r_input_audio, 0)
        - coalesce(a.tok_cache_read_audio * o.r_cache_read_audio, 0)
        - coalesce(a.tok_input_image * o.r_input_image, 0)
        - coalesce(a.tok_output * o.r_output, 0) - coalesce(a.tok_reasoning * o.r_reasoning, 0)
        - coalesce(a.tok_output_audio * o.r_output_audio, 0) - coalesce(a.tok_output_image * o.r_output_image, 0)
    ) <= a.near_pusd
    GROUP BY a.request_key
),

explained AS (
    SELECT
        a.source, a.provider, a.model_id, a.request_key, a.cost_pusd, a.cost_reported_pusd, o.other_row,
        CASE
            WHEN cost_reported_pusd = 0 THEN 'zero'
            WHEN tok_cache_read > 0 AND abs(cost_reported_pusd - cost_pusd - cached_at_input) <= near_pusd
                THEN 'cached_twice'
            WHEN tok_cache_read > 0
                AND abs(cost_reported_pusd - cost_pusd + cache_read_pusd - cached_at_input) <= near_pusd
                THEN 'cached_full'
            WHEN cache_read_pusd > 0 AND abs(cost_reported_pusd - cost_pusd + cache_read_pusd) <= near_pusd
                THEN 'cached_free'
            WHEN cache_write_pusd > 0 AND abs(cost_reported_pusd - cost_pusd + cache_write_pusd) <= near_pusd
                THEN 'writes_free'
            WHEN cache_write_pusd > 0
                AND abs(cost_reported_pusd - cost_pusd + cache_write_pusd - written_at_input) <= near_pusd
                THEN 'writes_full'
            WHEN reasoning_pusd > 0 AND abs(cost_reported_pusd - cost_pusd - reasoning_pusd) <= near_pusd
                THEN 'reasoning_twice'
            WHEN reasoning_pusd > 0 AND abs(cost_reported_pusd - cost_pusd + reasoning_pusd) <= near_pusd
                THEN 'reasoning_free'
            WHEN other_pusd > 0 AND abs(cost_reported_pusd - cost_pusd + other_pusd) <= near_pusd THEN 'fees_free'
            WHEN (is_batch = 'true' OR service_tier IN ('flex', 'batch'))
                AND abs(cost_reported_pusd - 2 * cost_pusd) <= near_pusd
                THEN 'standard_rate'
            WHEN is_batch = 'false' AND abs(2 * cost_reported_pusd - cost_pusd) <= 2 * near_pusd THEN 'batch_rate'
            WHEN o.other_row IS NOT NULL THEN 'other_row'
            WHEN warnings LIKE '%cache!_not!_logged%' ESCAPE '!' AND cost_reported_pusd < cost_pusd
                AND cost_pusd - cost_reported_pusd <= cached_saves + near_pusd
                THEN 'cache_not_logged'
            WHEN warnings LIKE '%sum!_of!_calls%' ESCAPE '!' AND cost_reported_pusd > cost_pusd THEN 'sum_of_calls'
            ELSE 'unexplained'
        END AS reason
    FROM rated AS a
    LEFT JOIN at_other_rows AS o ON o.request_key = a.request_key
)

SELECT
    source, provider, model_id, reason,
    count(*) AS requests,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS own_pusd,
    sum(cast(cost_reported_pusd AS DECIMAL(38, 0))) AS reported_pusd,
    min(CASE WHEN cost_pusd > 0 THEN cast(cost_reported_pusd AS DOUBLE) / cost_pusd END) AS low,
    max(CASE WHEN cost_pusd > 0 THEN cast(cost_reported_pusd AS DOUBLE) / cost_pusd END) AS high,
    max_by(request_key, abs(cost_reported_pusd - cost_pusd)) AS example,
    min(CASE WHEN reason = 'other_row' THEN other_row END) AS other_row
FROM explained
GROUP BY source, provider, model_id, reason
ORDER BY abs(sum(cast(cost_reported_pusd AS DECIMAL(38, 0))) - sum(cast(cost_pusd AS DECIMAL(38, 0)))) DESC,
    source, provider, model_id, reason
