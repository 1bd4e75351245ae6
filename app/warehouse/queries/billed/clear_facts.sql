-- Empties bill_facts.
DELETE FROM bill_facts
