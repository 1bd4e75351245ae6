-- The shards whose chunks are in the ledger: shard.
SELECT DISTINCT shard FROM ingest_ledger WHERE shard IN (SELECT shard FROM waiting_shards)
