-- Notes what bill_lines and bill_facts were made of.
DELETE FROM bill_state;
INSERT INTO bill_state VALUES ($made_of)
