-- Rates as compiled from a price book, kept by its version, and what each logged name was taken to mean.
-- Rates are pico-USD a token (r_input, ...) or a unit (r_web_search, ...); NULL is unknown, never zero.

CREATE TABLE price_books (
    book VARCHAR NOT NULL,          -- version: a hash over the compiled table
    list_source VARCHAR NOT NULL,
    installed_us BIGINT NOT NULL
);

-- One row a model, context, validity and prompt length. Half-open in time and minutes of the UTC day; weekdays are
-- inclusive with Monday 0; a prompt of n tokens (all input classes) matches where tier_gt < n <= tier_le.
CREATE TABLE price_rates (
    book VARCHAR NOT NULL,
    rate_key BIGINT NOT NULL,       -- of (provider, price_model, ctx)
    price_row VARCHAR NOT NULL,     -- readable identity, shown beside every figure
    provider VARCHAR NOT NULL,
    price_model VARCHAR NOT NULL,
    ctx VARCHAR NOT NULL,           -- batch, flex, region=any, contract, ...; '' is standard
    valid_from_us BIGINT NOT NULL,
    valid_to_us BIGINT NOT NULL,
    minute_from INTEGER NOT NULL,
    minute_to INTEGER NOT NULL,
    weekday_from INTEGER NOT NULL,
    weekday_to INTEGER NOT NULL,
    tier_gt BIGINT NOT NULL,
    tier_le BIGINT NOT NULL,
    r_input DECIMAL(24, 6),
    r_cache_read DECIMAL(24, 6),
    r_cache_write_5m DECIMAL(24, 6),
    r_cache_write_30m DECIMAL(24, 6),
    r_cache_write_1h DECIMAL(24, 6),
    r_cache_write_12h DECIMAL(24, 6),
    r_input_audio DECIMAL(24, 6),
    r_cache_read_audio DECIMAL(24, 6),
    r_input_image DECIMAL(24, 6),
    r_output DECIMAL(24, 6),
    r_reasoning DECIMAL(24, 6),
    r_output_audio DECIMAL(24, 6),
    r_output_image DECIMAL(24, 6),
    r_web_search DECIMAL(24, 6),
    r_storage_search DECIMAL(24, 6),
    r_code_execution DECIMAL(24, 6),
    r_rerank DECIMAL(24, 6),
    r_second DECIMAL(24, 6),
    r_page DECIMAL(24, 6),
    r_character DECIMAL(24, 6),
    r_image DECIMAL(24, 6),
    r_request DECIMAL(24, 6),
    source VARCHAR NOT NULL,
    status VARCHAR NOT NULL         -- confirmed, estimated
);

-- Distinct (provider, model, price context) as logged, '' for NULL; rate_key NULL where the name is unresolved.
CREATE TABLE price_alias (
    book VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    service_tier VARCHAR NOT NULL,
    is_batch BOOLEAN NOT NULL,
    region VARCHAR NOT NULL,
    price_context VARCHAR NOT NULL,
    account VARCHAR NOT NULL,       -- '' unless some price depends on the account
    provider_id VARCHAR,            -- our name of the serving provider
    model_id VARCHAR,
    price_provider VARCHAR,         -- whose list prices it; differs from provider_id where own is false
    price_model VARCHAR,
    ctx VARCHAR,
    rate_key BIGINT,
    list_key BIGINT,                -- the list price, where own terms differ
    own BOOLEAN NOT NULL,
    rule VARCHAR NOT NULL,          -- exact, build, alias, provider by name, list price of X, unresolved
    any_us BIGINT,                  -- a time to price undated requests at: the model has had one rate ever
    any_prompt BIGINT               -- likewise for requests that do not say how long the prompt was
);
