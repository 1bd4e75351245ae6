-- Facts: what was asked, what was billed, and the fingerprints of what was sent.
-- No primary keys, unique constraints or indexes: the merge keeps keys unique (DESIGN.md section 7).
-- *_us are microseconds UTC, *_pusd pico-USD, hashes signed 64-bit. NULL is unknown, never zero.

CREATE TABLE requests (
    request_key BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    source_record VARCHAR,
    origin_file VARCHAR,
    origin_line BIGINT,
    provider_response_id VARCHAR,
    trace_id VARCHAR,
    parent_id VARCHAR,
    session_id VARCHAR,
    account VARCHAR,
    user_hash BIGINT,
    api_key_hash BIGINT,
    api_key_alias VARCHAR,
    tags VARCHAR,                   -- JSON object of text values
    provider VARCHAR,
    model VARCHAR,                  -- as sent or answered
    model_id VARCHAR,               -- resolved by the price book; equals model where it could not be
    operation VARCHAR NOT NULL,
    region VARCHAR,
    service_tier VARCHAR,           -- as served
    is_batch BOOLEAN NOT NULL,
    stream BOOLEAN,
    params_hash BIGINT,
    max_tokens BIGINT,
    temperature DOUBLE,
    top_p DOUBLE,
    n BIGINT,
    seed BIGINT,
    stop_hash BIGINT,
    response_format VARCHAR,
    reasoning_effort VARCHAR,
    price_context VARCHAR,          -- JSON object: inference_geo, speed, deployment, base_model
    start_us BIGINT,
    first_token_us BIGINT,
    end_us BIGINT,
    itl_p50_us BIGINT,
    itl_p99_us BIGINT,
    status VARCHAR NOT NULL,        -- ok, error, aborted, timeout
    http_status BIGINT,
    finish_reason VARCHAR,
    attempt BIGINT,
    retry_of VARCHAR,
    error VARCHAR,                  -- redacted, at most 512 bytes
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
    tok_total_reported BIGINT,
    units VARCHAR,                  -- JSON object of numbers: web_search, image, second, call
    input_pusd BIGINT,              -- with audio and image input
    cache_read_pusd BIGINT,
    cache_write_pusd BIGINT,
    output_pusd BIGINT,             -- with audio and image output
    reasoning_pusd BIGINT,
    other_pusd BIGINT,              -- searches, calls, fees
    cost_list_pusd BIGINT,
    cost_pusd BIGINT,               -- contract; the sum of the six parts; the basis of every saving
    cost_reported_pusd BIGINT,
    price_row VARCHAR,
    price_book VARCHAR,
    cost_state VARCHAR NOT NULL,    -- priced, partly, unpriced, not_billed, unknown
    exact_key BIGINT,
    prefix_scope BIGINT,
    prompt_bytes BIGINT,
    out_hash BIGINT,
    warnings VARCHAR,               -- space-separated codes
    fullness BIGINT NOT NULL        -- a later snapshot of the same call replaces this row only if it is at least as full
);

CREATE TABLE request_parts (
    request_key BIGINT NOT NULL,
    part INTEGER NOT NULL,
    model_id VARCHAR,
    tok_input BIGINT,
    tok_cache_read BIGINT,
    tok_cache_write_5m BIGINT,
    tok_cache_write_30m BIGINT,
    tok_cache_write_1h BIGINT,
    tok_cache_write_12h BIGINT,
    tok_output BIGINT,
    tok_reasoning BIGINT,
    cost_pusd BIGINT,
    price_row VARCHAR
);

-- chain_hash covers everything from the cache scope to the end of this row's bytes, so equal chains mean an equal
-- whole prefix. A part's end has the same chain whether or not its inner blocks were kept.
CREATE TABLE segments (
    request_key BIGINT NOT NULL,
    pos INTEGER NOT NULL,
    role VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,          -- text, tool, tool_use, tool_result, image, schema; block = inside a long part
    seg_hash BIGINT NOT NULL,       -- of this row's own bytes
    chain_hash BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    bytes_upto BIGINT NOT NULL,     -- prompt bytes from the start to the end of this row
    tokens_upto BIGINT,             -- billed prompt tokens scaled to this position; NULL where the total is unknown
    is_boundary BOOLEAN NOT NULL,   -- the end of a message part; false for a block inside one
    start_us BIGINT                 -- of the request: replay sorts by it without a join
);

-- The lines of each distinct segment, once: templates and cache breakers join segments to lines by seg_hash.
CREATE TABLE lines (
    seg_hash BIGINT NOT NULL,
    pos INTEGER NOT NULL,
    line_hash BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);

CREATE TABLE attribution (
    request_key BIGINT NOT NULL,
    feature VARCHAR NOT NULL,       -- 'unassigned' where nothing says
    team VARCHAR NOT NULL,
    environment VARCHAR NOT NULL,
    template BIGINT,
    rule VARCHAR NOT NULL,          -- tag, rule:<name>, template, none
    version BIGINT NOT NULL
);

CREATE TABLE billed (
    source VARCHAR NOT NULL,
    day DATE NOT NULL,
    provider VARCHAR NOT NULL,
    account VARCHAR,
    model VARCHAR,
    class VARCHAR NOT NULL,
    quantity DECIMAL(38, 6),
    cost DECIMAL(38, 12) NOT NULL,
    currency VARCHAR NOT NULL
);

CREATE TABLE sources (
    source VARCHAR NOT NULL,
    format VARCHAR NOT NULL,
    billing VARCHAR NOT NULL,       -- api, subscription, provisioned, free, unknown
    billing_said_by VARCHAR NOT NULL -- format, user
);
