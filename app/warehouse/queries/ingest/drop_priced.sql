-- Forgets the prices of one merge.
DROP TABLE incoming_priced
