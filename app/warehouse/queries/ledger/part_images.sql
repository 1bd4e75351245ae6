-- The temporary table {into}: the figures as of $version of the parts of the requests of {fresh}, where they changed
-- since: request_key, part, model_id, cost_pusd, price_row.
CREATE OR REPLACE TEMP TABLE {into} AS
WITH firsts AS (
    SELECT request_key, part, min(version) AS version
    FROM cost_ledger_parts
    WHERE version > $version AND request_key IN (SELECT request_key FROM {fresh})
    GROUP BY request_key, part
)

SELECT l.request_key AS request_key, l.part AS part, l.model_id AS model_id, l.cost_pusd AS cost_pusd,
       l.price_row AS price_row
FROM cost_ledger_parts AS l
INNER JOIN firsts AS f ON f.request_key = l.request_key AND f.part = l.part AND f.version = l.version
