-- Stores the segments of the snapshots that won.
INSERT INTO segments (
    request_key, pos, role, kind, seg_hash, chain_hash, bytes, bytes_upto, tokens_upto, is_boundary, start_us
)
SELECT request_key, pos, role, kind, seg_hash, chain_hash, bytes, bytes_upto, tokens_upto, is_boundary, start_us
FROM incoming_segments
