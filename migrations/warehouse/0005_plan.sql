-- What analyses found. A run is written whole in one transaction; pages read the newest one.

CREATE TABLE plan_runs (
    run_id BIGINT NOT NULL,
    computed_us BIGINT NOT NULL,
    from_us BIGINT NOT NULL,
    to_us BIGINT NOT NULL,
    zone VARCHAR NOT NULL,
    price_book VARCHAR NOT NULL,
    before_pusd BIGINT NOT NULL,
    joint_pusd BIGINT NOT NULL,
    potential_pusd BIGINT NOT NULL,
    result VARCHAR NOT NULL,        -- JSON: the whole result without findings
    games VARCHAR NOT NULL          -- JSON: the coalition game of each scope, for what-if and dismissals
);

-- One row a coalition of levers: what it saves over all scopes, each scope applying only what pays.
CREATE TABLE plan_coalitions (
    run_id BIGINT NOT NULL,
    levers VARCHAR NOT NULL,        -- names joined by '+', grade D marked with '?'
    saved_pusd BIGINT NOT NULL
);

CREATE TABLE plan_findings (
    run_id BIGINT NOT NULL,
    place INTEGER NOT NULL,
    fingerprint VARCHAR NOT NULL,
    lever VARCHAR NOT NULL,
    feature VARCHAR NOT NULL,
    template BIGINT,
    provider VARCHAR NOT NULL,
    model_id VARCHAR NOT NULL,
    grade VARCHAR NOT NULL,
    requests BIGINT NOT NULL,
    standalone_pusd BIGINT NOT NULL,
    last_in_pusd BIGINT NOT NULL,
    allocated_pusd BIGINT NOT NULL,
    detail VARCHAR NOT NULL         -- JSON: the finding without its evidence rows
);

CREATE TABLE plan_evidence (
    run_id BIGINT NOT NULL,
    fingerprint VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    request_key BIGINT NOT NULL,
    start_us BIGINT,
    before_pusd BIGINT NOT NULL,
    after_pusd BIGINT NOT NULL,
    note VARCHAR NOT NULL
);
