-- What is worked out from the facts: known templates, roll-ups, and the views that every spend question reads.
-- `at_us` is the place in time of a row: the start of a request, the start of a bucket in a roll-up, and 0 for
-- requests that carry no time, so that they stand in no calendar day but in the total of everything.

-- Known templates of the standing attribution. A template is the line that most requests of one feature, account and
-- model share; its hash is the template's name, so the same prompt on two models has one name.
CREATE TABLE templates (
    template BIGINT NOT NULL,
    account VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    model_id VARCHAR NOT NULL,
    feature VARCHAR NOT NULL,       -- what the rules said; '' where they said nothing
    requests BIGINT NOT NULL        -- that carry the line
);

-- One row: which rules made the latest version.
CREATE TABLE attribution_state (
    version BIGINT NOT NULL,
    rules VARCHAR NOT NULL,         -- hash of the rule set
    applied_us BIGINT NOT NULL
);

-- Every sum is NULL where no row of the group knows the value. Buckets are an hour, or the width in rollup_state.
CREATE TABLE spend_hour (
    at_us BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    cost_state VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    account VARCHAR NOT NULL,
    model_id VARCHAR NOT NULL,
    feature VARCHAR NOT NULL,
    team VARCHAR NOT NULL,
    environment VARCHAR NOT NULL,
    assigned_by VARCHAR NOT NULL,   -- tag, rule, template, none
    service_tier VARCHAR NOT NULL,
    is_batch VARCHAR NOT NULL,      -- true, false
    requests BIGINT NOT NULL,
    tok_input BIGINT,
    tok_cache_read BIGINT,
    tok_cache_write_5m BIGINT,
    tok_cache_write_30m BIGINT,
    tok_cache_write_1h BIGINT,
    tok_cache_write_12h BIGINT,
    tok_input_audio BIGINT,
    tok_cache_read_audio BIGINT,
    tok_input_image BIGINT,
    tok_output BIGINT,
    tok_reasoning BIGINT,
    tok_output_audio BIGINT,
    tok_output_image BIGINT,
    input_pusd BIGINT,
    cache_read_pusd BIGINT,
    cache_write_pusd BIGINT,
    output_pusd BIGINT,
    reasoning_pusd BIGINT,
    other_pusd BIGINT,
    cost_pusd BIGINT,
    cost_list_pusd BIGINT,
    cost_reported_pusd BIGINT,
    last_us BIGINT                  -- the latest start in the bucket
);

-- A value v stands in the bin floor(ln v / ln 1.05); a bin is 5 % wide, so bins of any hours and engines add up.
CREATE TABLE latency_hour (
    at_us BIGINT NOT NULL,
    feature VARCHAR NOT NULL,
    model_id VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,        -- ttft, tpot (time per output token after the first), duration, itl_p50, itl_p99
    bin INTEGER NOT NULL,
    n BIGINT NOT NULL
);

CREATE TABLE rollup_state (
    bucket_us BIGINT NOT NULL
);

CREATE VIEW attribution_latest AS
SELECT request_key, feature, team, environment, template, rule, version
FROM attribution
WHERE version = (SELECT max(version) FROM attribution);

-- One row a request in the shape of spend_hour, without what attribution says: for questions that need none of it.
CREATE VIEW request_facts AS
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

-- The same with the latest attribution; a request that has none yet is unassigned, never missing.
CREATE VIEW attributed_facts AS
SELECT
    f.*,
    coalesce(a.feature, 'unassigned') AS feature,
    coalesce(a.team, 'unassigned') AS team,
    coalesce(a.environment, 'unassigned') AS environment,
    CASE WHEN a.rule IS NULL THEN 'none' WHEN a.rule LIKE 'rule:%' THEN 'rule' ELSE a.rule END AS assigned_by,
    coalesce(cast(a.template AS VARCHAR), 'unassigned') AS template
FROM request_facts f
LEFT JOIN attribution_latest a ON a.request_key = f.request_key;
