-- Who pays a bill, as its export or its pull says it: two organisations' bills are not one that was read twice.
ALTER TABLE billed ADD COLUMN payer VARCHAR; -- NULL: neither says it
DELETE FROM bill_state;
