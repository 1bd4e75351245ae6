-- Reads that were billed beside reads that the replay of the layout as sent predicts, {split} being replay.layout_split of it.
-- Returns (provider, model_id, account, day, requests, billed, replayed); days without a replayed read
-- and requests whose source does not say what was read tell nothing and are left out.
SELECT c.provider, c.model_id, s.account, s.day,
       count(*) AS requests,
       cast(sum(cast(s.billed AS decimal(38, 0))) AS bigint) AS billed,
       cast(sum(cast(s.replayed AS decimal(38, 0))) AS bigint) AS replayed
FROM {split} AS s
JOIN {scopes} AS c ON c.scope_id = s.scope_id
WHERE s.replayed > 0 AND s.billed IS NOT NULL
GROUP BY c.provider, c.model_id, s.account, s.day
ORDER BY c.provider, c.model_id, s.account, s.day
