-- Every request whose exact key was sent more than once by the same principal, with its kind against the one before.
-- first: nothing before it. retry: the one before failed. parallel: the same user sends it before the last answer is
-- complete, or within two seconds (sampling several answers). regenerate: the same session asks again within ten minutes for another
-- answer. cross_user: another user of the same key. repeat: the rest. Keys cover model, messages, tools and parameters.
-- deterministic: temperature 0 or a seed was sent (a missing temperature is not 0), or the operation is an embedding.
CREATE OR REPLACE TEMP TABLE repeats AS
WITH asked AS (
    SELECT
        s.request_key, s.exact_key, s.principal, s.user_hash, s.session_id, s.start_us, s.end_us, s.status, s.out_hash,
        s.feature, s.template, s.provider, s.model_id, s.cost_pusd,
        CASE WHEN s.temperature = 0 OR s.seed IS NOT NULL OR s.operation IN ('embedding', 'embeddings') THEN 1 ELSE 0
        END AS deterministic,
        count(*) OVER same AS times,
        row_number() OVER ordered AS place,
        lag(s.start_us, 1, cast(0 AS BIGINT)) OVER ordered AS before_start_us,
        lag(s.end_us, 1, cast(0 AS BIGINT)) OVER ordered AS before_end_us,
        lag(s.status, 1, '') OVER ordered AS before_status,
        lag(coalesce(s.session_id, ''), 1, '') OVER ordered AS before_session,
        lag(coalesce(s.user_hash, 0), 1, cast(0 AS BIGINT)) OVER ordered AS before_user,
        lag(coalesce(s.out_hash, 0), 1, cast(0 AS BIGINT)) OVER ordered AS before_out
    FROM stream s
    WHERE s.exact_key IS NOT NULL AND s.calls_summed IS NULL
    WINDOW same AS (PARTITION BY s.exact_key, s.principal),
           ordered AS (PARTITION BY s.exact_key, s.principal ORDER BY s.start_us, s.request_key)
)
SELECT
    request_key, exact_key, principal, start_us, end_us, status, feature, template, provider, model_id, cost_pusd,
    deterministic, place, times,
    CASE WHEN place = 1 THEN 'first'
         WHEN before_status <> 'ok' THEN 'retry'
         WHEN coalesce(user_hash, 0) = before_user
              AND (start_us < before_end_us OR start_us - before_start_us < 2000000) THEN 'parallel'
         WHEN session_id IS NOT NULL AND session_id = before_session AND start_us - before_start_us < 600000000
             THEN 'regenerate'
         WHEN coalesce(user_hash, 0) <> before_user THEN 'cross_user'
         ELSE 'repeat'
    END AS kind,
    CASE WHEN place = 1 OR out_hash IS NULL OR before_out = 0 THEN NULL WHEN out_hash = before_out THEN 1 ELSE 0
    END AS agrees
FROM asked
WHERE times > 1
