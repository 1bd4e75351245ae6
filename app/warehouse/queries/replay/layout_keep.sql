-- Keeps the registered relation {frame} as the temporary table {into}.
CREATE OR REPLACE TEMPORARY TABLE {into} AS SELECT * FROM {frame}
