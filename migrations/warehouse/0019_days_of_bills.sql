-- Lines about several days (a month in one line) say the last of them too. Bills are settled anew.
ALTER TABLE billed ADD COLUMN last_day DATE;      -- NULL: one day
ALTER TABLE bill_lines ADD COLUMN last_us BIGINT; -- noon UTC of the last day; at_us where it is one day
DELETE FROM bill_state;
