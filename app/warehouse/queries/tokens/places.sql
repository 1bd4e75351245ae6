-- The places of known_places with what stands before them and what their prompt holds in all: model_id, session_id, checked,
-- tokens at the place, bytes, vocabulary_tokens, letters, digits, spaces, newlines, punctuation, high_bytes, parts, then
-- whole_tokens and the same measures of the whole prompt, named whole_*.
SELECT p.model_id, p.session_id, k.checked, k.tokens,
       sum(g.bytes) AS bytes, sum(m.vocabulary_tokens) AS vocabulary_tokens, sum(m.letters) AS letters,
       sum(m.digits) AS digits, sum(m.spaces) AS spaces, sum(m.newlines) AS newlines,
       sum(m.punctuation) AS punctuation, sum(m.high_bytes) AS high_bytes, count(*) AS parts,
       max(p.tokens) AS whole_tokens, max(p.bytes) AS whole_bytes, max(p.vocabulary_tokens) AS whole_vocabulary_tokens,
       max(p.letters) AS whole_letters, max(p.digits) AS whole_digits, max(p.spaces) AS whole_spaces,
       max(p.newlines) AS whole_newlines, max(p.punctuation) AS whole_punctuation,
       max(p.high_bytes) AS whole_high_bytes, max(p.parts) AS whole_parts
FROM known_places AS k
JOIN measured_prompts AS p ON p.request_key = k.request_key
JOIN segments AS g ON g.request_key = k.request_key AND g.is_boundary AND g.pos <= k.pos
JOIN text_measures AS m ON m.seg_hash = g.seg_hash AND m.bytes = g.bytes
GROUP BY p.model_id, p.session_id, k.checked, k.tokens, k.request_key, k.pos
ORDER BY p.model_id, k.checked, k.request_key, k.pos
