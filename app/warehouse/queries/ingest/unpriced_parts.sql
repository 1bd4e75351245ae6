-- Separately billed parts where no price book is at hand: request_key, part, model_id, cost_pusd, price_row.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT request_key, part, model_id, cast(NULL AS BIGINT) AS cost_pusd, cast(NULL AS VARCHAR) AS price_row
FROM {parts}
