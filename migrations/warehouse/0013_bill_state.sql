-- One row: what bill_lines and bill_facts were made of, so that an ingest that changes nothing of it costs one look.
CREATE TABLE bill_state (
    made_of VARCHAR NOT NULL
);
