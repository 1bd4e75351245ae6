-- The source that says a line's account and day too, with amounts that are nothing alike, so that both count: no payer is
-- named, and they are taken for bills of two. Bills are settled anew.
ALTER TABLE bill_lines ADD COLUMN unlike VARCHAR;
DELETE FROM bill_state;
