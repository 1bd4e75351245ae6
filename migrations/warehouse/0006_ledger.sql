-- The ledger of costs: every re-pricing is a version, and the figures it took the place of stay.
-- `requests` holds the newest figures. Version 0 is what requests were priced at when they were taken in; the figures as
-- of version v are those of the row with the lowest version above v here, else the ones in `requests`.

CREATE TABLE cost_versions (
    version BIGINT NOT NULL,
    kind VARCHAR NOT NULL,          -- reprice, rollback
    restores BIGINT,                -- rollback: the version whose figures it brings back
    price_book VARCHAR,             -- reprice: the book it prices with
    prices VARCHAR,                 -- reprice: the user's own price file, if there is one
    from_us BIGINT NOT NULL,        -- the requests it is about: [from_us, to_us), 0 with those that have no time
    to_us BIGINT NOT NULL,
    zone VARCHAR NOT NULL,          -- in which its days are cut
    who VARCHAR NOT NULL,
    why VARCHAR NOT NULL,
    started_us BIGINT NOT NULL,
    ended_us BIGINT,                -- NULL: not finished
    ending VARCHAR                  -- whole; left: given up with a part of the time done
);

-- One row a finished slice of time, written with what it changed: the next slice begins at the largest to_us.
CREATE TABLE cost_slices (
    version BIGINT NOT NULL,
    from_us BIGINT NOT NULL,
    to_us BIGINT NOT NULL,
    requests BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    passed_over BIGINT NOT NULL,    -- rollback: a fuller log has replaced the call since
    priced_before BIGINT NOT NULL,  -- requests with a known cost
    priced_after BIGINT NOT NULL,
    before_pusd DECIMAL(38, 0) NOT NULL,    -- the sum of the known costs, changed or not
    after_pusd DECIMAL(38, 0) NOT NULL,
    done_us BIGINT NOT NULL
);

-- What a slice changed, by local day and model. A sum is NULL where no request of the row has a cost.
CREATE TABLE cost_changes (
    version BIGINT NOT NULL,
    day VARCHAR,                    -- 2026-11-30; NULL for requests without a time
    model_id VARCHAR,
    reason VARCHAR NOT NULL,        -- corrected, other_row, priced, unpriced, completed, less_complete, same_cost
    requests BIGINT NOT NULL,
    before_pusd DECIMAL(38, 0),
    after_pusd DECIMAL(38, 0)
);

-- The figures that `version` took the place of: rows are only ever added.
CREATE TABLE cost_ledger (
    request_key BIGINT NOT NULL,
    version BIGINT NOT NULL,
    fullness BIGINT NOT NULL,       -- of the snapshot that they priced; another one has other tokens
    provider VARCHAR,
    model_id VARCHAR,
    input_pusd BIGINT,
    cache_read_pusd BIGINT,
    cache_write_pusd BIGINT,
    output_pusd BIGINT,
    reasoning_pusd BIGINT,
    other_pusd BIGINT,
    cost_list_pusd BIGINT,
    cost_pusd BIGINT,
    price_row VARCHAR,
    price_book VARCHAR,
    cost_state VARCHAR NOT NULL,
    warnings VARCHAR
);

CREATE TABLE cost_ledger_parts (
    request_key BIGINT NOT NULL,
    part INTEGER NOT NULL,
    version BIGINT NOT NULL,
    model_id VARCHAR,
    cost_pusd BIGINT,
    price_row VARCHAR
);
