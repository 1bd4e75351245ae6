-- The temporary table `ruled`: what the rules say of each pending request (request_key, start_us); feature, team,
-- environment and label are NULL where no rule says. Reads rule_fields, rule_conditions, rule_outputs and rule_list
-- (app/analysis/rules.py).
CREATE OR REPLACE TEMP TABLE ruled AS
WITH subjects AS (
    SELECT
        r.request_key AS request_key, r.start_us, r.source, r.account, r.provider, coalesce(r.model_id, r.model) AS model,
        r.operation, r.region,
        r.api_key_alias, r.origin_file, r.session_id, r.tags
    FROM requests r
    JOIN pending p ON p.request_key = r.request_key AND p.start_us IS NOT DISTINCT FROM r.start_us
),
valued AS (
    SELECT
        s.request_key AS request_key,
        f.field,
        CASE f.kind
            WHEN 'tag' THEN json_extract_string(s.tags, f.path)
            WHEN 'source' THEN s.source
            WHEN 'account' THEN s.account
            WHEN 'provider' THEN s.provider
            WHEN 'model' THEN s.model
            WHEN 'operation' THEN s.operation
            WHEN 'region' THEN s.region
            WHEN 'api_key' THEN s.api_key_alias
            WHEN 'file' THEN s.origin_file
            WHEN 'session' THEN s.session_id
        END AS value
    FROM subjects s
    CROSS JOIN rule_fields f
),
known AS (
    SELECT request_key, field, value FROM valued WHERE value IS NOT NULL AND value <> ''
),
tested AS (
    SELECT
        k.request_key AS request_key, c.rule, c.place,
        CASE
            WHEN c.negated THEN min(CASE WHEN k.value LIKE c.pattern ESCAPE '!' THEN 0 ELSE 1 END)
            ELSE max(CASE WHEN k.value LIKE c.pattern ESCAPE '!' THEN 1 ELSE 0 END)
        END AS holds
    FROM known k
    JOIN rule_conditions c ON c.field = k.field
    GROUP BY k.request_key, c.rule, c.place, c.negated
),
matched AS (
    SELECT request_key, rule, sum(holds) AS holding FROM tested GROUP BY request_key, rule
),
offered AS (
    SELECT
        m.request_key AS request_key, o.output, l.priority, l.label,
        CASE
            WHEN o.literal IS NOT NULL THEN o.literal
            WHEN o.extract IS NOT NULL THEN regexp_extract(k.value, o.extract, 1)
            ELSE k.value
        END AS given
    FROM matched m
    JOIN rule_list l ON l.rule = m.rule AND l.conditions = m.holding
    JOIN rule_outputs o ON o.rule = m.rule
    LEFT JOIN known k ON k.request_key = m.request_key AND k.field = o.field
),
placed AS (
    SELECT
        request_key, output, label, given,
        row_number() OVER (PARTITION BY request_key, output ORDER BY priority) AS place
    FROM offered
    WHERE given IS NOT NULL AND given <> ''
),
decided AS (
    SELECT
        request_key,
        max(CASE WHEN output = 'feature' THEN given END) AS feature,
        max(CASE WHEN output = 'team' THEN given END) AS team,
        max(CASE WHEN output = 'environment' THEN given END) AS environment,
        max(CASE WHEN output = 'feature' THEN label END) AS label
    FROM placed
    WHERE place = 1
    GROUP BY request_key
)
SELECT s.request_key AS request_key, s.start_us, d.feature, d.team, d.environment, d.label
FROM subjects s
LEFT JOIN decided d ON d.request_key = s.request_key
