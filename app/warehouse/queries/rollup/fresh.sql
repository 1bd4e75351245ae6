-- The temporary view `fresh_facts`: the requests of {fresh} (request_key, start_us) that count, with their {attribution},
-- in the columns of attributed_facts that roll-ups are filled from. A few new requests of a long hour cost no more than
-- they are, where the view would join all that stand.
CREATE OR REPLACE TEMP VIEW fresh_facts AS
SELECT
    coalesce(r.start_us, 0) AS at_us,
    r.source,
    r.cost_state,
    coalesce(r.provider, 'unassigned') AS provider,
    coalesce(r.account, 'unassigned') AS account,
    coalesce(r.model_id, r.model, 'unassigned') AS model_id,
    coalesce(r.service_tier, 'unassigned') AS service_tier,
    CASE WHEN r.is_batch THEN 'true' ELSE 'false' END AS is_batch,
    r.status,
    cast(CASE WHEN r.calls_summed > 1 THEN r.calls_summed ELSE 1 END AS BIGINT) AS requests,
    r.tok_input, r.tok_cache_read, r.tok_cache_write_5m, r.tok_cache_write_30m, r.tok_cache_write_1h,
    r.tok_cache_write_12h, r.tok_input_audio, r.tok_cache_read_audio, r.tok_input_image,
    r.tok_output, r.tok_reasoning, r.tok_output_audio, r.tok_output_image,
    r.input_pusd, r.cache_read_pusd, r.cache_write_pusd, r.output_pusd, r.reasoning_pusd, r.other_pusd,
    r.cost_pusd, r.cost_list_pusd, r.cost_reported_pusd,
    r.start_us AS last_us,
    CASE WHEN r.calls_summed IS NULL THEN r.first_token_us END AS first_token_us,
    CASE WHEN r.calls_summed IS NULL THEN r.end_us END AS end_us,
    CASE WHEN r.calls_summed IS NULL THEN r.itl_p50_us END AS itl_p50_us,
    CASE WHEN r.calls_summed IS NULL THEN r.itl_p99_us END AS itl_p99_us,
    coalesce(a.feature, 'unassigned') AS feature,
    coalesce(a.team, 'unassigned') AS team,
    coalesce(a.environment, 'unassigned') AS environment,
    CASE WHEN a.rule IS NULL THEN 'none' WHEN a.rule LIKE 'rule:%' THEN 'rule' ELSE a.rule END AS assigned_by
FROM requests r
JOIN {fresh} f ON f.request_key = r.request_key AND f.start_us IS NOT DISTINCT FROM r.start_us
LEFT JOIN {attribution} a ON a.request_key = r.request_key
WHERE r.request_key NOT IN (SELECT request_key FROM held_out)
