-- Stores the fits in {fits}, whose columns are those of token_fits.
INSERT INTO token_fits (
    model_id, prompts, method, a_vocabulary_token, a_letter, a_digit, a_space, a_newline, a_punctuation, a_high_byte,
    a_part, a_prompt, a_byte
)
SELECT model_id, prompts, method, a_vocabulary_token, a_letter, a_digit, a_space, a_newline, a_punctuation, a_high_byte,
       a_part, a_prompt, a_byte
FROM {fits}
