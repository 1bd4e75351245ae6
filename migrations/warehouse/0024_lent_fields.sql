-- Which fields of a row come from a snapshot of the call that is less full than the row's own, and how full that one is:
-- so that a third snapshot finds its place among them in whatever order they are read. `tags.<label>` is one label. -1: no
-- snapshot named the provider, the price book did.
CREATE TABLE request_lent (
    request_key BIGINT NOT NULL,
    field VARCHAR NOT NULL,
    fullness BIGINT NOT NULL
);
-- How full the snapshot is whose place in its source this is; NULL where that is not known: such a place stays.
ALTER TABLE request_origins ADD COLUMN fullness BIGINT;
