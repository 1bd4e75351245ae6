-- What bill_lines and bill_facts were made of last: made_of.
SELECT made_of FROM bill_state
