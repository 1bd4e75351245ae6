-- Where a call was read that more than one source told of: one row a source, the first place in it. A call of one
-- source alone has no row here; its place stands in requests.
CREATE TABLE request_origins (
    request_key BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    source_record VARCHAR,
    origin_file VARCHAR,
    origin_line BIGINT
);
