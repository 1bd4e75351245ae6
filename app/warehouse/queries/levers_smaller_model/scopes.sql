-- One row a scope and kind of need (tools, images, schema, size class): requests, dollars, tokens, the longest.
-- `stream_pusd` is what the whole stream cost, so that a scope's share of it can be told.
SELECT
    s.feature, s.template, s.provider, s.model_id, n.tools, n.images, n.schema_output,
    CASE WHEN n.prompt_tokens > 272000 THEN 6 WHEN n.prompt_tokens > 200000 THEN 5 WHEN n.prompt_tokens > 120000 THEN 4
         WHEN n.prompt_tokens > 60000 THEN 3 WHEN n.prompt_tokens > 30000 THEN 2 WHEN n.prompt_tokens > 7000 THEN 1
         ELSE 0 END AS size_class,
    count(*) AS requests,
    min(n.known_parts) AS known_parts,
    max(n.prompt_tokens) AS longest_prompt,
    max(n.answer_tokens) AS longest_answer,
    cast(sum(cast(s.cost_pusd AS DECIMAL(38, 0))) AS DOUBLE) AS cost_pusd,
    cast(min(w.spend) AS DOUBLE) AS stream_pusd,
    cast(sum(coalesce(s.tok_input, 0)) AS DOUBLE) AS tok_input,
    cast(sum(coalesce(s.tok_cache_read, 0)) AS DOUBLE) AS tok_cache_read,
    cast(sum(coalesce(s.tok_cache_write_5m, 0) + coalesce(s.tok_cache_write_30m, 0) + coalesce(s.tok_cache_write_1h, 0)
             + coalesce(s.tok_cache_write_12h, 0)) AS DOUBLE) AS tok_cache_write,
    cast(sum(coalesce(s.tok_output, 0)) AS DOUBLE) AS tok_output,
    cast(sum(coalesce(s.tok_reasoning, 0)) AS DOUBLE) AS tok_reasoning
FROM routing_needs n
JOIN stream s ON s.request_key = n.request_key
CROSS JOIN (SELECT sum(cast(cost_pusd AS DECIMAL(38, 0))) AS spend FROM stream) w
GROUP BY s.feature, s.template, s.provider, s.model_id, n.tools, n.images, n.schema_output, size_class
ORDER BY s.feature, s.template, s.provider, s.model_id, n.tools, n.images, n.schema_output, size_class
