-- The lines of bills in the words of the requests: models resolved, amounts in USD, usage without a cost valued at the
-- price book, doubled bills left out. Made anew from billed whenever bills, requests or prices change.

CREATE TABLE bill_lines (
    at_us BIGINT NOT NULL,          -- noon UTC of the day
    source VARCHAR NOT NULL,
    report VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    account VARCHAR,
    model VARCHAR,                  -- as billed
    model_id VARCHAR,               -- resolved by the price book; equals model where it could not be
    class VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    service_tier VARCHAR,
    is_batch BOOLEAN,
    currency VARCHAR,
    quantity DECIMAL(38, 6),
    requests BIGINT,
    cost DECIMAL(38, 12),           -- native
    cost_pusd BIGINT,               -- NULL: a usage report, or a currency without a rate
    value_pusd BIGINT,              -- of a line without a cost: its quantity at the price book's rate; NULL: no price
    price_row VARCHAR,
    has_cost BOOLEAN NOT NULL,
    doubled_by VARCHAR              -- the source whose bill says the same and counts; NULL: this line counts
);
