-- The temporary table {into}: the figures as of $version of those requests of {requests}(request_key, fullness) that
-- were priced anew since. same_call is false where a fuller log has replaced the call: its old figures fit no longer.
CREATE OR REPLACE TEMP TABLE {into} AS
WITH firsts AS (
    SELECT request_key, min(version) AS version
    FROM cost_ledger
    WHERE version > $version AND request_key IN (SELECT request_key FROM {requests})
    GROUP BY request_key
)

SELECT
    l.request_key AS request_key, l.provider AS provider, l.model_id AS model_id, l.input_pusd AS input_pusd,
    l.cache_read_pusd AS cache_read_pusd, l.cache_write_pusd AS cache_write_pusd, l.output_pusd AS output_pusd,
    l.reasoning_pusd AS reasoning_pusd, l.other_pusd AS other_pusd, l.cost_list_pusd AS cost_list_pusd,
    l.cost_pusd AS cost_pusd, l.price_row AS price_row, l.price_book AS price_book, l.cost_state AS cost_state,
    l.warnings AS warnings,
    l.fullness = r.fullness AS same_call
FROM cost_ledger AS l
INNER JOIN firsts AS f ON f.request_key = l.request_key AND f.version = l.version
INNER JOIN {requests} AS r ON r.request_key = l.request_key
