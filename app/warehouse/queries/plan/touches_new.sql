-- Empties the table that collects which candidate of which lever touches a request.
CREATE OR REPLACE TEMP TABLE touches (request_key BIGINT NOT NULL, code DECIMAL(38, 0) NOT NULL)
