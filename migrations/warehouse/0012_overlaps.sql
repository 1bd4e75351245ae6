-- The same calls told by two sources that share no id: what was found, and which requests do not count because of it.

-- One row a pair of sources that were compared, source_a before source_b by name.
CREATE TABLE source_overlaps (
    source_a VARCHAR NOT NULL,
    source_b VARCHAR NOT NULL,
    from_us BIGINT NOT NULL,        -- the time that both cover
    to_us BIGINT NOT NULL,
    calls_a BIGINT NOT NULL,        -- calls with tokens in it
    calls_b BIGINT NOT NULL,
    twins BIGINT NOT NULL,          -- calls of one that have their own call of the other: same model, tokens, within 2 s
    chance DOUBLE NOT NULL          -- as many would be found by chance: twins where one clock is moved
);

-- How many requests each source had when it was compared last, so that a source that has grown is compared again.
CREATE TABLE overlap_seen (
    source VARCHAR NOT NULL,
    requests BIGINT NOT NULL
);

-- Requests that do not count, because another source tells of the same calls and counts. Facts stay; this table is made
-- anew from them and from what people decided.
CREATE TABLE held_out (
    request_key BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    counted_source VARCHAR NOT NULL,
    start_us BIGINT NOT NULL
);

-- The requests that count: what every sum, plan and export is made of.
CREATE VIEW counted_requests AS
SELECT * FROM requests r
WHERE NOT EXISTS (SELECT 1 FROM held_out h WHERE h.request_key = r.request_key);

CREATE OR REPLACE VIEW request_facts AS
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
    SELECT start_us AS at_us, * FROM counted_requests WHERE start_us IS NOT NULL
    UNION ALL
    SELECT cast(0 AS BIGINT) AS at_us, * FROM counted_requests WHERE start_us IS NULL
) r;
