-- What {facts} in [from_us, to_us) cover: requests, tokens, requests_priced, tokens_priced (a whole price, or known not
-- to be billed), untagged_requests and untagged_pusd (no tag and no rule gives the feature), cost_pusd; dollars are
-- NULL where none of the requests has a known cost. One row.
WITH rows_in AS (
    SELECT
        requests, assigned_by, cost_state,
        cast(cost_pusd AS DECIMAL(38, 0)) AS cost_pusd,
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        + coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0) AS tokens
    FROM {facts}
    WHERE at_us >= $from_us AND at_us < $to_us
)
SELECT
    coalesce(sum(requests), 0) AS requests,
    coalesce(sum(tokens), 0) AS tokens,
    coalesce(sum(CASE WHEN cost_state IN ('priced', 'not_billed') THEN requests END), 0) AS requests_priced,
    coalesce(sum(CASE WHEN cost_state IN ('priced', 'not_billed') THEN tokens END), 0) AS tokens_priced,
    coalesce(sum(CASE WHEN assigned_by IN ('template', 'none', 'bill') THEN requests END), 0) AS untagged_requests,
    sum(CASE WHEN assigned_by IN ('template', 'none', 'bill') THEN cost_pusd END) AS untagged_pusd,
    sum(cost_pusd) AS cost_pusd
FROM rows_in
