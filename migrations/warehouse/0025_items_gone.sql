-- Whether a line that does not count is an item that a newer whole export of its days no longer has. Bills are settled anew.
ALTER TABLE bill_lines ADD COLUMN is_gone BOOLEAN;
DELETE FROM bill_state;
