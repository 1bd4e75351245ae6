-- Sums of a split of sessions, {split} (columns of replay.layout_split). Returns (steps, billed, predicted).
SELECT count(*) AS steps,
       cast(coalesce(sum(cast(billed AS decimal(38, 0))), 0) AS bigint) AS billed,
       cast(coalesce(sum(cast(replayed AS decimal(38, 0))), 0) AS bigint) AS predicted
FROM {split}
