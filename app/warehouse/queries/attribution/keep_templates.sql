-- Adds the requests of `chosen` to the known templates.
CREATE OR REPLACE TEMP TABLE templates_now AS
WITH counted AS (
    SELECT c.line_hash AS template, g.account, g.provider, g.model_id, g.feature, cast(count(*) AS BIGINT) AS requests
    FROM chosen c
    JOIN template_groups g ON g.grp = c.grp
    GROUP BY c.line_hash, g.account, g.provider, g.model_id, g.feature
    UNION ALL
    SELECT template, account, provider, model_id, feature, requests FROM templates
)
SELECT template, account, provider, model_id, feature, sum(requests) AS requests
FROM counted
GROUP BY template, account, provider, model_id, feature;
DELETE FROM templates;
INSERT INTO templates SELECT template, account, provider, model_id, feature, requests FROM templates_now
