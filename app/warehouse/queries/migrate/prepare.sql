-- The table of the migrations that ran.
CREATE TABLE IF NOT EXISTS warehouse_version (
    version INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    applied_us BIGINT NOT NULL
);
