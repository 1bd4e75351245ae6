-- A replayed cache layout folded into the same cells: the counterfactual split of the prompt, sums a cell.
-- Requests of a cell that the replay did not touch are left out; `requests` says how many it did.
SELECT
    c.cell,
    count(*) AS layout_requests,
    cast(sum(coalesce(l.tok_input, 0)) AS DOUBLE) AS layout_tok_input,
    cast(sum(coalesce(l.tok_cache_read, 0)) AS DOUBLE) AS layout_tok_cache_read,
    cast(sum(coalesce(l.tok_cache_write_5m, 0)) AS DOUBLE) AS layout_tok_cache_write_5m,
    cast(sum(coalesce(l.tok_cache_write_30m, 0)) AS DOUBLE) AS layout_tok_cache_write_30m,
    cast(sum(coalesce(l.tok_cache_write_1h, 0)) AS DOUBLE) AS layout_tok_cache_write_1h,
    cast(sum(coalesce(l.tok_cache_write_12h, 0)) AS DOUBLE) AS layout_tok_cache_write_12h
FROM {keyed} c
JOIN {layout} l ON l.request_key = c.request_key
GROUP BY c.cell
