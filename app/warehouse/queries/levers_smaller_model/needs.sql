-- What each answered request asks of a model: prompt and answer tokens, tools, images, a JSON schema.
-- known_parts: 0 where the log keeps no parts of the prompt, so tools and images in it cannot be seen.
CREATE OR REPLACE TEMP TABLE routing_needs AS
SELECT
    s.request_key,
    coalesce(s.prompt_tokens, 0) AS prompt_tokens,
    coalesce(s.tok_output, 0) + coalesce(s.tok_reasoning, 0) AS answer_tokens,
    CASE WHEN coalesce(p.tools, 0) > 0 THEN 1 ELSE 0 END AS tools,
    CASE WHEN coalesce(p.images, 0) > 0 OR coalesce(s.tok_input_image, 0) > 0 THEN 1 ELSE 0 END AS images,
    CASE WHEN s.response_format LIKE '%schema%' THEN 1 ELSE 0 END AS schema_output,
    CASE WHEN p.request_key IS NULL AND s.exact_key IS NULL THEN 0 ELSE 1 END AS known_parts
FROM stream s
LEFT JOIN (
    SELECT request_key,
           sum(CASE WHEN kind IN ('tool', 'tool_use', 'tool_result') OR role = 'tools' THEN 1 ELSE 0 END) AS tools,
           sum(CASE WHEN kind = 'image' THEN 1 ELSE 0 END) AS images
    FROM segments
    WHERE kind IN ('tool', 'tool_use', 'tool_result', 'image') OR role = 'tools'
    GROUP BY request_key
) p ON p.request_key = s.request_key
WHERE s.calls_summed IS NULL AND s.cost_pusd > 0 AND s.prompt_tokens IS NOT NULL AND coalesce(s.tok_output, s.tok_reasoning) IS NOT NULL
  AND s.operation NOT IN ('embedding', 'embeddings', 'image', 'audio', 'rerank')
