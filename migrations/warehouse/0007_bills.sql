-- What providers bill: the lines of bills, usage and cost reports, and the days that Spend takes from them.

DROP TABLE IF EXISTS billed;

-- One row a line of a bill (equal lines of one part of a file are one row). A report is what an export is of: what a
-- newer export of the same source, report and scope says of a day takes the place of what an older one said of it.
CREATE TABLE billed (
    source VARCHAR NOT NULL,
    report VARCHAR NOT NULL,        -- openai_costs, openai_usage_completions, aws_cur, ...
    scope VARCHAR NOT NULL,         -- the account that one export gives whole; '' where it gives all of them
    day DATE NOT NULL,              -- UTC, as providers cut bills
    provider VARCHAR NOT NULL,
    account VARCHAR,
    model VARCHAR,                  -- as billed; NULL: the line names none
    class VARCHAR NOT NULL,         -- a token class without tok_, cache_write, tokens, request, web_search, other
    kind VARCHAR NOT NULL,          -- usage, credit, refund, fee, tax, other (no model usage)
    region VARCHAR,
    service_tier VARCHAR,
    is_batch BOOLEAN,
    line_item VARCHAR,
    unit VARCHAR,
    quantity DECIMAL(38, 6),        -- single tokens or units
    requests BIGINT,
    cost DECIMAL(38, 12),           -- NULL: a usage report, which says no cost
    effective_cost DECIMAL(38, 12), -- after commitments were spread over usage, where the bill says it
    list_cost DECIMAL(38, 12),
    currency VARCHAR,
    lines BIGINT NOT NULL,          -- how many lines of the file this row is
    file VARCHAR NOT NULL,          -- as given
    line BIGINT NOT NULL,           -- the first of them
    -- where it came from, for the next export of the same days
    path VARCHAR NOT NULL,
    export VARCHAR NOT NULL,        -- the path without the number of a part: parts of one export add up
    page BIGINT NOT NULL,           -- of a report in pages each page is an export of its own; 0 elsewhere
    file_bytes BIGINT NOT NULL,
    file_mtime_ns BIGINT NOT NULL,
    byte_from BIGINT NOT NULL,
    task VARCHAR NOT NULL
);

-- The days of an account of which there is a bill and no request, in the shape of spend_hour; filled from billed,
-- requests and the price book. A day of a bill stands at noon UTC, so that it is the same date in nearly every zone.
CREATE TABLE bill_facts (
    at_us BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    cost_state VARCHAR NOT NULL,    -- priced, partly, unpriced
    provider VARCHAR NOT NULL,
    account VARCHAR NOT NULL,
    model_id VARCHAR NOT NULL,
    service_tier VARCHAR NOT NULL,
    is_batch VARCHAR NOT NULL,
    requests BIGINT NOT NULL,       -- 0 where the bill does not count them
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
    cost_reported_pusd BIGINT
);

-- What Spend adds up: single requests, and the days that only a bill knows.
CREATE VIEW spend_facts AS
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, api_key, user_name, status,
    requests, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd,
    reasoning_pusd, other_pusd, cost_pusd, cost_list_pusd, cost_reported_pusd, last_us
FROM request_facts
UNION ALL
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, 'unassigned' AS api_key,
    'unassigned' AS user_name, 'unassigned' AS status, requests, tok_input, tok_cache_read, tok_cache_write_5m,
    tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h, tok_input_audio, tok_cache_read_audio,
    tok_input_image, tok_output, tok_reasoning, tok_output_audio, tok_output_image, input_pusd,
    cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd, cost_pusd, cost_list_pusd,
    cost_reported_pusd, at_us AS last_us
FROM bill_facts;

CREATE VIEW attributed_spend_facts AS
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, api_key, user_name, status,
    requests, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd,
    reasoning_pusd, other_pusd, cost_pusd, cost_list_pusd, cost_reported_pusd, last_us, feature, team,
    environment, assigned_by, template
FROM attributed_facts
UNION ALL
SELECT
    at_us, source, cost_state, provider, account, model_id, service_tier, is_batch, 'unassigned' AS api_key,
    'unassigned' AS user_name, 'unassigned' AS status, requests, tok_input, tok_cache_read, tok_cache_write_5m,
    tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h, tok_input_audio, tok_cache_read_audio,
    tok_input_image, tok_output, tok_reasoning, tok_output_audio, tok_output_image, input_pusd,
    cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd, other_pusd, cost_pusd, cost_list_pusd,
    cost_reported_pusd, at_us AS last_us, 'unassigned' AS feature, 'unassigned' AS team,
    'unassigned' AS environment, 'bill' AS assigned_by, 'unassigned' AS template
FROM bill_facts;
