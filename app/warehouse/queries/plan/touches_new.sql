-- Empties the table that collects which candidate of which lever touches a request.
CREATE OR REPLACE TEMP TABLE touches AS
SELECT request_key, cast(0 AS DECIMAL(38, 0)) AS code FROM stream WHERE 1 = 0
