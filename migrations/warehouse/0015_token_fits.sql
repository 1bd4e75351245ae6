-- What places in prompts are worth in tokens: measures of texts that outlive the texts, what was fitted on them to the
-- billed prompt tokens of each model, and how far off each way to place tokens was found to be.

CREATE TABLE text_measures (
    seg_hash BIGINT NOT NULL,
    bytes BIGINT NOT NULL,              -- of the text as it is kept; less than the segment's where something was redacted
    letters BIGINT NOT NULL,            -- ASCII
    digits BIGINT NOT NULL,
    spaces BIGINT NOT NULL,             -- and tabs, returns and control characters
    newlines BIGINT NOT NULL,
    punctuation BIGINT NOT NULL,        -- the rest of ASCII
    high_bytes BIGINT NOT NULL,         -- bytes outside ASCII
    vocabulary_tokens BIGINT NOT NULL   -- by o200k_base
);

-- One row a model with kept prompts. The weight of a part is a_part and the sum of measure x coefficient; without a
-- measure a_part and its bytes x a_byte. Coefficients are NULL where too few prompts are measured.
CREATE TABLE token_fits (
    model_id VARCHAR NOT NULL,
    prompts BIGINT NOT NULL,            -- different prompts that were fitted
    method VARCHAR,                     -- bytes, classes, vocabulary: the one that was least wrong
    a_vocabulary_token DOUBLE,
    a_letter DOUBLE,
    a_digit DOUBLE,
    a_space DOUBLE,
    a_newline DOUBLE,
    a_punctuation DOUBLE,
    a_high_byte DOUBLE,
    a_part DOUBLE,
    a_prompt DOUBLE,                    -- the constant; of the whole prompt, at no position
    a_byte DOUBLE
);

-- Relative errors, 0.01 is 1 %; checked against: prompt (whole prompts that the fit had not seen), inner (a prompt that
-- begins another one and was billed alone), cached (a prefix that the provider billed as read or written).
CREATE TABLE token_errors (
    model_id VARCHAR NOT NULL,
    checked VARCHAR NOT NULL,
    method VARCHAR NOT NULL,
    places BIGINT NOT NULL,
    median_error DOUBLE NOT NULL,       -- of |error|
    p95_error DOUBLE NOT NULL,          -- of |error|
    bias DOUBLE NOT NULL                -- mean of the error with its sign
);
