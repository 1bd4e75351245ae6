-- How many requests are neither attributed by the version nor in `pending`: requests. Not 0 where rows were stored or
-- removed past the merge.
SELECT
    (SELECT count(*) FROM requests)
    - (SELECT count(*) FROM attribution WHERE version = $version)
    - (SELECT count(*) FROM pending) AS requests
