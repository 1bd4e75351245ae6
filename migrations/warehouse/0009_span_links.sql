-- Spans of traces that are no calls but may stand between calls, or that repeated the usage of calls under them. A call
-- that comes later is found through them to stand above calls that are here already. Kept for some days only.
CREATE TABLE span_links (
    trace_id VARCHAR NOT NULL,
    span_id VARCHAR NOT NULL,
    parent_id VARCHAR NOT NULL,
    start_us BIGINT,
    seen_us BIGINT NOT NULL
);
