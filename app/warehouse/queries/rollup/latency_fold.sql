-- The temporary table `latency_folded`: the rows of latency_hour in [from_us, to_us), again one for each bucket, feature,
-- model, metric and bin after rows of newer requests were added beside those that stood.
CREATE OR REPLACE TEMP TABLE latency_folded AS
SELECT at_us, feature, model_id, metric, bin, cast(sum(n) AS BIGINT) AS n
FROM latency_hour
WHERE at_us >= $from_us AND at_us < $to_us
GROUP BY at_us, feature, model_id, metric, bin
