-- Empties bill_lines.
DELETE FROM bill_lines
