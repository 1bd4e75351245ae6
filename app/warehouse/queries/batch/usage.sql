-- What the requests of batch jobs used and cost since $since_us, summed where the same rates hold: by job (the tag
-- at $job_path), provider, model, price context, hour and band of prompt length. Columns: job, provider, model_id, account,
-- region, price_context, hour_us, prompt_tokens (the mean of the band), priced (whether everything in the group has its
-- price), requests, unpriced, charged_pusd (of what has a price), other_pusd (the fees in it), the token
-- classes.
WITH rows_in AS (
    SELECT
        json_extract_string(r.tags, $job_path) AS job,
        r.provider, r.model_id, r.account, r.region, r.price_context, r.cost_pusd, r.other_pusd,
        r.start_us - mod(r.start_us, 3600000000) AS hour_us,
        r.cost_state = 'priced' AS priced,
        CASE WHEN r.cost_state IN ('priced', 'not_billed') THEN 0 ELSE 1 END AS without_price,
        r.tok_input, r.tok_cache_read, r.tok_cache_write_5m, r.tok_cache_write_30m, r.tok_cache_write_1h, r.tok_cache_write_12h, r.tok_input_audio,
        r.tok_cache_read_audio, r.tok_input_image, r.tok_output, r.tok_reasoning, r.tok_output_audio, r.tok_output_image,
        coalesce(r.tok_input, 0)
            + coalesce(r.tok_cache_read, 0)
            + coalesce(r.tok_cache_write_5m, 0)
            + coalesce(r.tok_cache_write_30m, 0)
            + coalesce(r.tok_cache_write_1h, 0)
            + coalesce(r.tok_cache_write_12h, 0)
            + coalesce(r.tok_input_audio, 0)
            + coalesce(r.tok_cache_read_audio, 0)
            + coalesce(r.tok_input_image, 0) AS prompt
    FROM requests r
    WHERE r.is_batch AND r.start_us >= $since_us
)

SELECT
    job, provider, model_id, account, region, price_context, hour_us,
    cast(floor(avg(prompt)) AS BIGINT) AS prompt_tokens,
    priced,
    count(*) AS requests,
    sum(without_price) AS unpriced,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS charged_pusd,
    sum(cast(other_pusd AS DECIMAL(38, 0))) AS other_pusd,
    sum(cast(tok_input AS DECIMAL(38, 0))) AS tok_input,
    sum(cast(tok_cache_read AS DECIMAL(38, 0))) AS tok_cache_read,
    sum(cast(tok_cache_write_5m AS DECIMAL(38, 0))) AS tok_cache_write_5m,
    sum(cast(tok_cache_write_30m AS DECIMAL(38, 0))) AS tok_cache_write_30m,
    sum(cast(tok_cache_write_1h AS DECIMAL(38, 0))) AS tok_cache_write_1h,
    sum(cast(tok_cache_write_12h AS DECIMAL(38, 0))) AS tok_cache_write_12h,
    sum(cast(tok_input_audio AS DECIMAL(38, 0))) AS tok_input_audio,
    sum(cast(tok_cache_read_audio AS DECIMAL(38, 0))) AS tok_cache_read_audio,
    sum(cast(tok_input_image AS DECIMAL(38, 0))) AS tok_input_image,
    sum(cast(tok_output AS DECIMAL(38, 0))) AS tok_output,
    sum(cast(tok_reasoning AS DECIMAL(38, 0))) AS tok_reasoning,
    sum(cast(tok_output_audio AS DECIMAL(38, 0))) AS tok_output_audio,
    sum(cast(tok_output_image AS DECIMAL(38, 0))) AS tok_output_image
FROM rows_in
WHERE job IS NOT NULL
GROUP BY
    job, provider, model_id, account, region, price_context, hour_us, priced,
    CASE WHEN prompt > 128000 THEN floor(prompt / 8000.0) ELSE 0 END
