-- The temporary table overlap_held, empty: request_key, source, counted_source, start_us.
CREATE OR REPLACE TEMP TABLE overlap_held (
    request_key BIGINT NOT NULL, source VARCHAR NOT NULL, counted_source VARCHAR NOT NULL, start_us BIGINT NOT NULL
)
