-- Which logs of one source have calls that look alike: of the same model and tokens, at most $near_us apart once a clock
-- was moved by $moved_us. Needs {logs}: source, file, first_us, last_us, looked (of each pair one is). Calls that both
-- have an id of the response are different ones. Columns: source, file_a, file_b, twins, calls (of the log that has
-- fewer of them while both were written), cost_pusd (of the calls of file_b that have a twin).
WITH told AS (
    SELECT
        r.source,
        r.origin_file AS file,
        request_key,
        coalesce(model_id, model) AS model,
        {{prompt_tokens}} AS tokens_in,
        {{answer_tokens}} AS tokens_out,
        start_us,
        cast(floor(start_us / $near_us) AS BIGINT) AS bucket,
        CASE WHEN provider_response_id IS NULL THEN 1 ELSE 0 END AS bare,
        cost_pusd
    FROM counted_requests r
    JOIN {logs} l ON l.source = r.source AND l.file = r.origin_file
    WHERE start_us IS NOT NULL
),
looked AS (
    SELECT source, file FROM {logs} WHERE looked
),
shifts AS (
    SELECT cast(-1 AS BIGINT) AS shift UNION ALL SELECT cast(0 AS BIGINT) UNION ALL SELECT cast(1 AS BIGINT)
),
asked AS (
    SELECT
        t.source, t.file, t.request_key, t.model, t.tokens_in, t.tokens_out, t.bare, t.cost_pusd,
        t.start_us + $moved_us AS start_us,
        cast(floor((t.start_us + $moved_us) / $near_us) AS BIGINT) + s.shift AS bucket
    FROM told t
    JOIN looked l ON l.source = t.source AND l.file = t.file
    CROSS JOIN shifts s
    WHERE t.tokens_in + t.tokens_out > 0
),
meetings AS (
    SELECT
        a.source, a.file AS file_b, o.file AS file_a, a.request_key AS key_b, o.request_key AS key_a, a.cost_pusd
    FROM asked a
    JOIN told o
        ON o.source = a.source AND o.model = a.model AND o.tokens_in = a.tokens_in AND o.tokens_out = a.tokens_out
        AND o.bucket = a.bucket
    LEFT JOIN looked l ON l.source = o.source AND l.file = o.file
    WHERE o.file <> a.file AND (l.file IS NULL OR o.file < a.file) AND a.bare + o.bare > 0
        AND abs(o.start_us - a.start_us) <= $near_us
),
twins AS (
    SELECT
        source, file_a, file_b, least(count(DISTINCT key_a), count(DISTINCT key_b)) AS twins
    FROM meetings
    GROUP BY source, file_a, file_b
),
costs AS (
    SELECT source, file_a, file_b, sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
    FROM (SELECT DISTINCT source, file_a, file_b, key_b, cost_pusd FROM meetings) AS once
    GROUP BY source, file_a, file_b
),
counted AS (
    SELECT
        w.source, w.file_a, w.file_b,
        sum(CASE WHEN t.file = w.file_a THEN 1 ELSE 0 END) AS calls_a,
        sum(CASE WHEN t.file = w.file_b THEN 1 ELSE 0 END) AS calls_b
    FROM twins w
    JOIN {logs} a ON a.source = w.source AND a.file = w.file_a
    JOIN {logs} b ON b.source = w.source AND b.file = w.file_b
    JOIN told t
        ON t.source = w.source AND (t.file = w.file_a OR t.file = w.file_b)
        AND t.start_us >= greatest(a.first_us, b.first_us) - $near_us
        AND t.start_us <= least(a.last_us, b.last_us) + $near_us
    WHERE w.twins >= $least
    GROUP BY w.source, w.file_a, w.file_b
)
SELECT w.source, w.file_a, w.file_b, w.twins, least(n.calls_a, n.calls_b) AS calls, c.cost_pusd
FROM twins w
JOIN counted n ON n.source = w.source AND n.file_a = w.file_a AND n.file_b = w.file_b
JOIN costs c ON c.source = w.source AND c.file_a = w.file_a AND c.file_b = w.file_b
ORDER BY w.twins DESC, w.source, w.file_a, w.file_b
