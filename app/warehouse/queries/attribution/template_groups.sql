-- The temporary table `template_groups`: where templates are looked for: one feature (as the rules say) of one account
-- on one model. grp is its number, requests how many are pending in it.
CREATE OR REPLACE TEMP TABLE template_groups AS
WITH counted AS (
    SELECT
        coalesce(r.account, '') AS account,
        coalesce(r.provider, '') AS provider,
        coalesce(r.model_id, r.model, '') AS model_id,
        coalesce(u.feature, '') AS feature,
        count(*) AS requests
    FROM ruled u
    JOIN requests r ON r.request_key = u.request_key AND r.start_us IS NOT DISTINCT FROM u.start_us
    WHERE r.exact_key IS NOT NULL
    GROUP BY
        coalesce(r.account, ''), coalesce(r.provider, ''), coalesce(r.model_id, r.model, ''), coalesce(u.feature, '')
)
SELECT
    row_number() OVER (ORDER BY account, provider, model_id, feature) AS grp,
    account, provider, model_id, feature, requests
FROM counted
