-- An empty temporary table {into} in the columns of latency_hour, for the bins of a part of the requests.
CREATE OR REPLACE TEMP TABLE {into} AS SELECT * FROM latency_hour WHERE n < 0
