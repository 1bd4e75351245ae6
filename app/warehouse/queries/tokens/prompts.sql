-- The measured prompts of measured_prompts: model_id, session_id, tokens, bytes, vocabulary_tokens, letters, digits, spaces,
-- newlines, punctuation, high_bytes, parts.
SELECT model_id, session_id, tokens, bytes, vocabulary_tokens, letters, digits, spaces, newlines, punctuation, high_bytes,
       parts
FROM measured_prompts
ORDER BY model_id, chain_hash
