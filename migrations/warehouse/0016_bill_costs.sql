-- Whether a line without a cost is of a class whose cost another line of the bill says. Bills are settled anew.
ALTER TABLE bill_lines ADD COLUMN cost_elsewhere BOOLEAN;
DELETE FROM bill_state;
