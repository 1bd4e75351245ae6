-- Adds to overlap_held the twins of $held whose call of $counted counts itself.
INSERT INTO overlap_held
SELECT
    CASE WHEN source_a = $held THEN key_a ELSE key_b END AS request_key,
    cast($held AS VARCHAR) AS source,
    cast($counted AS VARCHAR) AS counted_source,
    CASE WHEN source_a = $held THEN start_a ELSE start_b END AS start_us
FROM overlap_twins
WHERE (source_a = $held AND source_b = $counted OR source_a = $counted AND source_b = $held)
    AND CASE WHEN source_a = $held THEN key_b ELSE key_a END NOT IN (SELECT request_key FROM overlap_held)
    AND CASE WHEN source_a = $held THEN key_a ELSE key_b END NOT IN (SELECT request_key FROM overlap_held)
