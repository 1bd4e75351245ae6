-- Rows that tell what several calls used together: a whole batch, a run of an agent, a row of a grouped export.
-- NULL: one call. 0: several, nobody says how many. Else their number. Such a row counts for as many requests as it
-- says, and how long it took is no call's latency. The views are those of 0014 and 0021 with that.
ALTER TABLE requests ADD COLUMN calls_summed INTEGER;

CREATE OR REPLACE VIEW counted_requests AS
SELECT * FROM requests r
WHERE r.request_key NOT IN (SELECT request_key FROM held_out);

CREATE OR REPLACE VIEW told_facts AS
SELECT
    r.at_us,
    r.request_key,
    r.source,
    r.cost_state,
    coalesce(r.provider, 'unassigned') AS provider,
    coalesce(r.account, 'unassigned') AS account,
    coalesce(r.model_id, r.model, 'unassigned') AS model_id,
    coalesce(r.service_tier, 'unassigned') AS service_tier,
    CASE WHEN r.is_batch THEN 'true' ELSE 'false' END AS is_batch,
    coalesce(r.api_key_alias, cast(r.api_key_hash AS VARCHAR), 'unassigned') AS api_key,
    coalesce(cast(r.user_hash AS VARCHAR), 'unassigned') AS user_name,
    r.status,
    cast(CASE WHEN r.calls_summed > 1 THEN r.calls_summed ELSE 1 END AS BIGINT) AS requests,
    r.tok_input, r.tok_cache_read, r.tok_cache_write_5m, r.tok_cache_write_30m, r.tok_cache_write_1h,
    r.tok_cache_write_12h, r.tok_input_audio, r.tok_cache_read_audio, r.tok_input_image,
    r.tok_output, r.tok_reasoning, r.tok_output_audio, r.tok_output_image,
    r.input_pusd, r.cache_read_pusd, r.cache_write_pusd, r.output_pusd, r.reasoning_pusd, r.other_pusd,
    r.cost_pusd, r.cost_list_pusd, r.cost_reported_pusd,
    r.start_us AS last_us,
    r.session_id,
    CASE WHEN r.calls_summed IS NULL THEN r.first_token_us END AS first_token_us,
    CASE WHEN r.calls_summed IS NULL THEN r.end_us END AS end_us,
    CASE WHEN r.calls_summed IS NULL THEN r.itl_p50_us END AS itl_p50_us,
    CASE WHEN r.calls_summed IS NULL THEN r.itl_p99_us END AS itl_p99_us
FROM (
    SELECT start_us AS at_us, * FROM requests WHERE start_us IS NOT NULL
    UNION ALL
    SELECT cast(0 AS BIGINT) AS at_us, * FROM requests WHERE start_us IS NULL
) r;

CREATE OR REPLACE VIEW request_facts AS
SELECT * FROM told_facts t
WHERE t.request_key NOT IN (SELECT request_key FROM held_out);
