-- Every request in the shape of spend_hour, also those that are held out: for the page of a single one. What counts is
-- the same without them.

CREATE VIEW told_facts AS
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
    cast(1 AS BIGINT) AS requests,
    r.tok_input, r.tok_cache_read, r.tok_cache_write_5m, r.tok_cache_write_30m, r.tok_cache_write_1h,
    r.tok_cache_write_12h, r.tok_input_audio, r.tok_cache_read_audio, r.tok_input_image,
    r.tok_output, r.tok_reasoning, r.tok_output_audio, r.tok_output_image,
    r.input_pusd, r.cache_read_pusd, r.cache_write_pusd, r.output_pusd, r.reasoning_pusd, r.other_pusd,
    r.cost_pusd, r.cost_list_pusd, r.cost_reported_pusd,
    r.start_us AS last_us,
    r.session_id, r.first_token_us, r.end_us, r.itl_p50_us, r.itl_p99_us
FROM (
    SELECT start_us AS at_us, * FROM requests WHERE start_us IS NOT NULL
    UNION ALL
    SELECT cast(0 AS BIGINT) AS at_us, * FROM requests WHERE start_us IS NULL
) r;

CREATE OR REPLACE VIEW request_facts AS
SELECT * FROM told_facts t
WHERE NOT EXISTS (SELECT 1 FROM held_out h WHERE h.request_key = t.request_key);
