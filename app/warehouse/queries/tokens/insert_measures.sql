-- Stores the measures in {measures} that are not there yet.
INSERT INTO text_measures (
    seg_hash, bytes, letters, digits, spaces, newlines, punctuation, high_bytes, vocabulary_tokens
)
SELECT n.seg_hash, n.bytes, n.letters, n.digits, n.spaces, n.newlines, n.punctuation, n.high_bytes, n.vocabulary_tokens
FROM {measures} AS n
WHERE NOT EXISTS (SELECT 1 FROM text_measures AS m WHERE m.seg_hash = n.seg_hash)
