-- Lays one filter over a spend relation: only rows whose {column} is one of the values of {chosen}(value).
CREATE OR REPLACE TEMPORARY VIEW {into} AS
SELECT * FROM {facts} WHERE {column} IN (SELECT value FROM {chosen})
