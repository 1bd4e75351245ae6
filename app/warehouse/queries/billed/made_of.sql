-- What the bills are, in figures that change with them: lines, cost, quantity, the newest file, a sum over
-- the files and places of all lines, and the days they span: lines, cost, quantity, newest_ns, places, first_us and last_us
-- (noon UTC). One row.
SELECT
    coalesce(sum(lines), 0) AS lines,
    coalesce(sum(cost), 0) AS cost,
    coalesce(sum(quantity), 0) AS quantity,
    coalesce(max(file_mtime_ns), 0) AS newest_ns,
    coalesce(sum(cast(file_mtime_ns AS DECIMAL(38, 0)) * line), 0) AS places,
    cast(min(day) - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS first_us,
    cast(max(coalesce(last_day, day)) - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS last_us
FROM billed
