-- Requests whose cost parts do not add up to their cost, and those whose classes do not add up to the provider's total.
-- Columns: requests, wrong_cost, wrong_tokens.
SELECT
    count(*) AS requests,
    sum(CASE
        WHEN cost_pusd IS NOT NULL
            AND cost_pusd <> coalesce(input_pusd, 0) + coalesce(cache_read_pusd, 0) + coalesce(cache_write_pusd, 0)
                + coalesce(output_pusd, 0) + coalesce(reasoning_pusd, 0) + coalesce(other_pusd, 0)
        THEN 1 ELSE 0
    END) AS wrong_cost,
    sum(CASE WHEN warnings LIKE '%sum_mismatch%' THEN 1 ELSE 0 END) AS wrong_tokens
FROM requests
