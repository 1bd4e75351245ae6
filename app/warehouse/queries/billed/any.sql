-- Whether any bill was read, or stood when the days that Spend takes from bills were last worked out. One row.
SELECT (SELECT count(*) FROM billed) + (SELECT count(*) FROM bill_lines) AS lines
