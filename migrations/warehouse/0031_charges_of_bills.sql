-- What a day of a bill is for, where it is no usage: credit, refund, fee, tax (NULL: usage), and what it counts beside
-- tokens. Exports name both. Bills are settled anew.
ALTER TABLE bill_facts ADD COLUMN charge VARCHAR;
ALTER TABLE bill_facts ADD COLUMN units VARCHAR; -- JSON object of numbers, as in requests
DELETE FROM bill_state;
