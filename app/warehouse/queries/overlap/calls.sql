-- The temporary table overlap_calls: calls with a time that start in [from_us, to_us) and have at least $least_tokens, in
-- the words that two sources of one call share: source, request_key, model (without what only one way to it adds: the
-- gateway's path, Bedrock's region, maker and version, the day of a snapshot), tokens_in, tokens_out, start_us. What is
-- held out is here too.
CREATE OR REPLACE TEMP TABLE overlap_calls AS
WITH told AS (
    SELECT
        source,
        request_key,
        coalesce(model_id, model) AS model,
        {{prompt_tokens}} AS tokens_in,
        {{answer_tokens}} AS tokens_out,
        start_us
    FROM requests
    WHERE start_us >= $from_us AND start_us < $to_us
),
names AS (
    SELECT
        model,
        replace(regexp_replace(regexp_replace(regexp_replace(
            lower(model),
            '^(.*/)?((regional|global|us-gov|us|eu|apac|jp|au|ca)[.])?((anthropic|meta|mistral|amazon|cohere|openai|deepseek)[.])?',
            ''
        ), '(-v[0-9]+)?:[0-9a-z]+$', ''), '[@-]20[0-9][0-9]-?[0-9][0-9]-?[0-9][0-9]$', ''), '.', '-') AS name
    FROM (SELECT DISTINCT model FROM told WHERE model IS NOT NULL) AS models
)
SELECT t.source, t.request_key, n.name AS model, t.tokens_in, t.tokens_out, t.start_us
FROM told t
JOIN names n ON n.model = t.model
WHERE t.tokens_in + t.tokens_out >= $least_tokens
