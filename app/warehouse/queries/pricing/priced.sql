-- What did each request cost, by part, and which price row says so?
-- Needs {requests}: request_key (unique), provider, model, service_tier, is_batch, region, price_context, account,
-- start_us, all token classes, units, calls_summed, cost_state ('not_billed' and 'unknown' are kept). Values: book, by_account, own_terms (false
-- prices at list). Columns: request_key, provider_id, model_id, six parts, cost_list_pusd, cost_pusd, price_row,
-- price_book, cost_state, price_warning (no_time, no_prompt_tokens, impossible_tokens, unknown_model, no_price,
-- sum_of_calls).
-- A price that depends on the prompt's length depends on each call's. Where a row sums calls (calls_summed), their
-- average decides, or the shortest where nobody says how many they were; unless the sum itself is within the first
-- boundary, that is an assumption, and sum_of_calls says so. A fee for each call is charged as often as there were calls.
-- Each part is round_half_even(tokens x rate) once; the parts add up to cost_pusd. An undated request is priced only
-- where the model has had one rate ever. `whole` rows compute in BIGINT, the few with fractions in DECIMAL.
WITH book_rates AS (
    SELECT
        rate_key, price_row, valid_from_us, valid_to_us, tier_gt, tier_le,
        cast(minute_from AS BIGINT) * 60000000 AS day_from_us,
        cast(minute_to AS BIGINT) * 60000000 AS day_to_us,
        cast(weekday_from AS BIGINT) * 86400000000 AS week_from_us,
        (cast(weekday_to AS BIGINT) + 1) * 86400000000 AS week_to_us,
        r_input, r_cache_read, r_cache_write_5m, r_cache_write_30m, r_cache_write_1h, r_cache_write_12h,
        r_input_audio, r_cache_read_audio, r_input_image, r_output, r_reasoning, r_output_audio, r_output_image,
        r_web_search, r_storage_search, r_code_execution, r_rerank, r_second, r_page, r_character, r_image,
        r_cache_storage, r_request,
        coalesce(r_input, 0) + coalesce(r_cache_read, 0) + coalesce(r_cache_write_5m, 0)
            + coalesce(r_cache_write_30m, 0) + coalesce(r_cache_write_1h, 0) + coalesce(r_cache_write_12h, 0)
            + coalesce(r_input_audio, 0) + coalesce(r_cache_read_audio, 0) + coalesce(r_input_image, 0)
            + coalesce(r_output, 0) + coalesce(r_reasoning, 0) + coalesce(r_output_audio, 0)
            + coalesce(r_output_image, 0) < 4000000000
            AND coalesce(r_input, 0) = floor(coalesce(r_input, 0))
            AND coalesce(r_cache_read, 0) = floor(coalesce(r_cache_read, 0))
            AND coalesce(r_cache_write_5m, 0) = floor(coalesce(r_cache_write_5m, 0))
            AND coalesce(r_cache_write_30m, 0) = floor(coalesce(r_cache_write_30m, 0))
            AND coalesce(r_cache_write_1h, 0) = floor(coalesce(r_cache_write_1h, 0))
            AND coalesce(r_cache_write_12h, 0) = floor(coalesce(r_cache_write_12h, 0))
            AND coalesce(r_input_audio, 0) = floor(coalesce(r_input_audio, 0))
            AND coalesce(r_cache_read_audio, 0) = floor(coalesce(r_cache_read_audio, 0))
            AND coalesce(r_input_image, 0) = floor(coalesce(r_input_image, 0))
            AND coalesce(r_output, 0) = floor(coalesce(r_output, 0))
            AND coalesce(r_reasoning, 0) = floor(coalesce(r_reasoning, 0))
            AND coalesce(r_output_audio, 0) = floor(coalesce(r_output_audio, 0))
            AND coalesce(r_output_image, 0) = floor(coalesce(r_output_image, 0)) AS whole,
        r_input IS NOT NULL AND r_cache_read IS NOT NULL AND r_cache_write_5m IS NOT NULL
            AND r_cache_write_30m IS NOT NULL AND r_cache_write_1h IS NOT NULL AND r_cache_write_12h IS NOT NULL
            AND r_input_audio IS NOT NULL AND r_cache_read_audio IS NOT NULL AND r_input_image IS NOT NULL
            AND r_output IS NOT NULL AND r_reasoning IS NOT NULL AND r_output_audio IS NOT NULL
            AND r_output_image IS NOT NULL AS complete
    FROM price_rates
    WHERE book = $book
),

rates AS (
    SELECT
        *,
        CASE WHEN whole THEN cast(r_input AS BIGINT) END AS w_input,
        CASE WHEN whole THEN cast(r_cache_read AS BIGINT) END AS w_cache_read,
        CASE WHEN whole THEN cast(r_cache_write_5m AS BIGINT) END AS w_cache_write_5m,
        CASE WHEN whole THEN cast(r_cache_write_30m AS BIGINT) END AS w_cache_write_30m,
        CASE WHEN whole THEN cast(r_cache_write_1h AS BIGINT) END AS w_cache_write_1h,
        CASE WHEN whole THEN cast(r_cache_write_12h AS BIGINT) END AS w_cache_write_12h,
        CASE WHEN whole THEN cast(r_input_audio AS BIGINT) END AS w_input_audio,
        CASE WHEN whole THEN cast(r_cache_read_audio AS BIGINT) END AS w_cache_read_audio,
        CASE WHEN whole THEN cast(r_input_image AS BIGINT) END AS w_input_image,
        CASE WHEN whole THEN cast(r_output AS BIGINT) END AS w_output,
        CASE WHEN whole THEN cast(r_reasoning AS BIGINT) END AS w_reasoning,
        CASE WHEN whole THEN cast(r_output_audio AS BIGINT) END AS w_output_audio,
        CASE WHEN whole THEN cast(r_output_image AS BIGINT) END AS w_output_image
    FROM book_rates
),

aliases AS (
    SELECT
        provider, model, service_tier, is_batch, region, price_context, account, provider_id, model_id, any_us,
        any_prompt,
        CASE WHEN $own_terms THEN rate_key ELSE coalesce(list_key, rate_key) END AS rate_key
    FROM price_alias
    WHERE book = $book
),

bounded AS (
    SELECT
        *,
        coalesce(
            tok_input NOT BETWEEN 0 AND 2000000000
            OR tok_cache_read NOT BETWEEN 0 AND 2000000000
            OR tok_cache_write_5m NOT BETWEEN 0 AND 2000000000
            OR tok_cache_write_30m NOT BETWEEN 0 AND 2000000000
            OR tok_cache_write_1h NOT BETWEEN 0 AND 2000000000
            OR tok_cache_write_12h NOT BETWEEN 0 AND 2000000000
            OR tok_input_audio NOT BETWEEN 0 AND 2000000000
            OR tok_cache_read_audio NOT BETWEEN 0 AND 2000000000
            OR tok_input_image NOT BETWEEN 0 AND 2000000000
            OR tok_output NOT BETWEEN 0 AND 2000000000
            OR tok_reasoning NOT BETWEEN 0 AND 2000000000
            OR tok_output_audio NOT BETWEEN 0 AND 2000000000
            OR tok_output_image NOT BETWEEN 0 AND 2000000000,
            FALSE
        ) AS impossible
    FROM {requests}
),

usage AS (
    SELECT
        impossible,
        request_key, provider, model, service_tier, is_batch, region, price_context, account, start_us, units,
        calls_summed, cost_state,
        tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h,
        tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning, tok_output_audio,
        tok_output_image,
        CASE
            WHEN NOT impossible AND coalesce(
                tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
                tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image
            ) IS NOT NULL
                THEN coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
                    + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0)
                    + coalesce(tok_cache_write_12h, 0) + coalesce(tok_input_audio, 0)
                    + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0)
        END AS prompt_tokens,
        coalesce(
            tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
            tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
            tok_output_audio, tok_output_image
        ) IS NOT NULL OR units IS NOT NULL AS has_usage,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"web_search" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_web_search,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"storage_search" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_storage_search,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"code_execution" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_code_execution,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"rerank" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_rerank,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"second" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_second,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"page" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_page,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"character" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_character,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"image" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_image,
        CASE WHEN units IS NOT NULL THEN
            cast(nullif(regexp_extract(units, '"cache_storage" *: *([0-9]{1,9}(?:[.][0-9]+)?) *[,}]', 1), '') AS DECIMAL(14, 3))
        END AS n_cache_storage
    FROM bounded
),

named AS (
    SELECT
        u.*,
        a.provider_id,
        a.model_id,
        CASE WHEN NOT u.impossible THEN a.rate_key END AS rate_key,
        coalesce(u.start_us, a.any_us) AS at_us,
        CASE
            WHEN u.prompt_tokens IS NULL THEN a.any_prompt
            WHEN u.calls_summed IS NULL THEN u.prompt_tokens
            WHEN u.calls_summed > 0 THEN cast(ceil(cast(u.prompt_tokens AS DOUBLE) / u.calls_summed) AS BIGINT)
            ELSE 0
        END AS at_prompt,
        CASE
            WHEN u.calls_summed IS NULL THEN 1
            WHEN u.calls_summed > 0 THEN cast(u.calls_summed AS DECIMAL(10, 0))
        END AS n_calls,
        mod(coalesce(u.start_us, a.any_us), 86400000000) AS at_day_us,
        mod(coalesce(u.start_us, a.any_us) + 259200000000, 604800000000) AS at_week_us
    FROM usage AS u
    LEFT JOIN aliases AS a
        ON a.provider = coalesce(u.provider, '')
        AND a.model = coalesce(u.model, '')
        AND a.service_tier = coalesce(u.service_tier, '')
        AND a.is_batch = u.is_batch
        AND a.region = coalesce(u.region, '')
        AND a.price_context = coalesce(u.price_context, '')
        AND a.account = CASE WHEN $by_account THEN coalesce(u.account, '') ELSE '' END
),

rated AS (
    SELECT
        n.*,
        r.price_row,
        coalesce(r.tier_gt > -1 OR n.prompt_tokens > r.tier_le, FALSE) AND n.calls_summed IS NOT NULL AS assumed,
        r.whole,
        r.complete,
        r.r_input, r.r_cache_read, r.r_cache_write_5m, r.r_cache_write_30m, r.r_cache_write_1h, r.r_cache_write_12h,
        r.r_input_audio, r.r_cache_read_audio, r.r_input_image, r.r_output, r.r_reasoning, r.r_output_audio,
        r.r_output_image,
        n.tok_input * r.w_input AS c_input,
        n.tok_cache_read * r.w_cache_read AS c_cache_read,
        n.tok_cache_write_5m * r.w_cache_write_5m AS c_cache_write_5m,
        n.tok_cache_write_30m * r.w_cache_write_30m AS c_cache_write_30m,
        n.tok_cache_write_1h * r.w_cache_write_1h AS c_cache_write_1h,
        n.tok_cache_write_12h * r.w_cache_write_12h AS c_cache_write_12h,
        n.tok_input_audio * r.w_input_audio AS c_input_audio,
        n.tok_cache_read_audio * r.w_cache_read_audio AS c_cache_read_audio,
        n.tok_input_image * r.w_input_image AS c_input_image,
        n.tok_output * r.w_output AS c_output,
        n.tok_reasoning * r.w_reasoning AS c_reasoning,
        n.tok_output_audio * r.w_output_audio AS c_output_audio,
        n.tok_output_image * r.w_output_image AS c_output_image,
        CASE
            WHEN n.units IS NULL AND r.r_request IS NULL THEN NULL
            WHEN coalesce(
                n.n_web_search * r.r_web_search, n.n_storage_search * r.r_storage_search,
                n.n_code_execution * r.r_code_execution, n.n_rerank * r.r_rerank, n.n_second * r.r_second,
                n.n_page * r.r_page, n.n_character * r.r_character, n.n_image * r.r_image,
                n.n_cache_storage * r.r_cache_storage, n.n_calls * r.r_request
            ) IS NOT NULL
                THEN coalesce(n.n_web_search * r.r_web_search, 0) + coalesce(n.n_storage_search * r.r_storage_search, 0)
                    + coalesce(n.n_code_execution * r.r_code_execution, 0) + coalesce(n.n_rerank * r.r_rerank, 0)
                    + coalesce(n.n_second * r.r_second, 0) + coalesce(n.n_page * r.r_page, 0)
                    + coalesce(n.n_character * r.r_character, 0) + coalesce(n.n_image * r.r_image, 0)
                    + coalesce(n.n_cache_storage * r.r_cache_storage, 0) + coalesce(n.n_calls * r.r_request, 0)
        END AS x_other,
        CASE
            WHEN r.complete THEN FALSE
            ELSE (n.tok_input > 0 AND r.r_input IS NULL) OR (n.tok_cache_read > 0 AND r.r_cache_read IS NULL)
                OR (n.tok_cache_write_5m > 0 AND r.r_cache_write_5m IS NULL)
                OR (n.tok_cache_write_30m > 0 AND r.r_cache_write_30m IS NULL)
                OR (n.tok_cache_write_1h > 0 AND r.r_cache_write_1h IS NULL)
                OR (n.tok_cache_write_12h > 0 AND r.r_cache_write_12h IS NULL)
                OR (n.tok_input_audio > 0 AND r.r_input_audio IS NULL)
                OR (n.tok_cache_read_audio > 0 AND r.r_cache_read_audio IS NULL)
                OR (n.tok_input_image > 0 AND r.r_input_image IS NULL)
                OR (n.tok_output > 0 AND r.r_output IS NULL) OR (n.tok_reasoning > 0 AND r.r_reasoning IS NULL)
                OR (n.tok_output_audio > 0 AND r.r_output_audio IS NULL)
                OR (n.tok_output_image > 0 AND r.r_output_image IS NULL)
        END AS lacks_class,
        CASE
            WHEN n.n_calls IS NULL AND r.r_request > 0 THEN TRUE
            WHEN n.units IS NULL THEN FALSE
            ELSE (n.n_web_search > 0 AND r.r_web_search IS NULL)
                OR (n.n_storage_search > 0 AND r.r_storage_search IS NULL)
                OR (n.n_code_execution > 0 AND r.r_code_execution IS NULL)
                OR (n.n_rerank > 0 AND r.r_rerank IS NULL) OR (n.n_second > 0 AND r.r_second IS NULL)
                OR (n.n_page > 0 AND r.r_page IS NULL) OR (n.n_character > 0 AND r.r_character IS NULL)
                OR (n.n_image > 0 AND r.r_image IS NULL)
                OR (n.n_cache_storage > 0 AND r.r_cache_storage IS NULL)
                -- a unit that no fee is known for, or whose count cannot be read
                OR length(n.units) - length(replace(n.units, ':', '')) >
                    CASE WHEN n.n_web_search IS NULL THEN 0 ELSE 1 END + CASE WHEN n.n_storage_search IS NULL THEN 0 ELSE 1 END
                    + CASE WHEN n.n_code_execution IS NULL THEN 0 ELSE 1 END + CASE WHEN n.n_rerank IS NULL THEN 0 ELSE 1 END
                    + CASE WHEN n.n_second IS NULL THEN 0 ELSE 1 END + CASE WHEN n.n_page IS NULL THEN 0 ELSE 1 END
                    + CASE WHEN n.n_character IS NULL THEN 0 ELSE 1 END + CASE WHEN n.n_image IS NULL THEN 0 ELSE 1 END
                    + CASE WHEN n.n_cache_storage IS NULL THEN 0 ELSE 1 END + CASE WHEN n.units LIKE '%"calls"%' THEN 1 ELSE 0 END
                    + CASE WHEN n.units LIKE '%"call"%' AND r.r_request IS NOT NULL THEN 1 ELSE 0 END
        END AS lacks_fee
    FROM named AS n
    LEFT JOIN rates AS r
        ON r.rate_key = n.rate_key
        AND r.valid_from_us <= n.at_us
        AND n.at_us < r.valid_to_us
        AND r.day_from_us <= n.at_day_us
        AND n.at_day_us < r.day_to_us
        AND r.week_from_us <= n.at_week_us
        AND n.at_week_us < r.week_to_us
        AND r.tier_gt < n.at_prompt
        AND n.at_prompt <= r.tier_le
),

summed AS (
    SELECT
        request_key, provider, provider_id, model, model_id, rate_key, start_us, at_us, prompt_tokens, at_prompt,
        cost_state, has_usage, impossible, price_row, whole, assumed, coalesce(lacks_class, FALSE) OR coalesce(lacks_fee, FALSE) AS lacking,
        CASE WHEN coalesce(c_input, c_input_audio, c_input_image) IS NOT NULL
            THEN coalesce(c_input, 0) + coalesce(c_input_audio, 0) + coalesce(c_input_image, 0) END AS w_in,
        CASE WHEN coalesce(c_cache_read, c_cache_read_audio) IS NOT NULL
            THEN coalesce(c_cache_read, 0) + coalesce(c_cache_read_audio, 0) END AS w_read,
        CASE WHEN coalesce(c_cache_write_5m, c_cache_write_30m, c_cache_write_1h, c_cache_write_12h) IS NOT NULL
            THEN coalesce(c_cache_write_5m, 0) + coalesce(c_cache_write_30m, 0) + coalesce(c_cache_write_1h, 0)
                + coalesce(c_cache_write_12h, 0) END AS w_write,
        CASE WHEN coalesce(c_output, c_output_audio, c_output_image) IS NOT NULL
            THEN coalesce(c_output, 0) + coalesce(c_output_audio, 0) + coalesce(c_output_image, 0) END AS w_out,
        c_reasoning AS w_reason,
        CASE WHEN NOT whole AND coalesce(cast(tok_input AS DECIMAL(14, 0)) * r_input, cast(tok_input_audio AS DECIMAL(14, 0)) * r_input_audio, cast(tok_input_image AS DECIMAL(14, 0)) * r_input_image) IS NOT NULL
            THEN coalesce(cast(tok_input AS DECIMAL(14, 0)) * r_input, 0)
                + coalesce(cast(tok_input_audio AS DECIMAL(14, 0)) * r_input_audio, 0)
                + coalesce(cast(tok_input_image AS DECIMAL(14, 0)) * r_input_image, 0) END AS x_in,
        CASE WHEN NOT whole AND coalesce(cast(tok_cache_read AS DECIMAL(14, 0)) * r_cache_read, cast(tok_cache_read_audio AS DECIMAL(14, 0)) * r_cache_read_audio) IS NOT NULL
            THEN coalesce(cast(tok_cache_read AS DECIMAL(14, 0)) * r_cache_read, 0)
                + coalesce(cast(tok_cache_read_audio AS DECIMAL(14, 0)) * r_cache_read_audio, 0) END AS x_read,
        CASE WHEN NOT whole AND coalesce(
                cast(tok_cache_write_5m AS DECIMAL(14, 0)) * r_cache_write_5m, cast(tok_cache_write_30m AS DECIMAL(14, 0)) * r_cache_write_30m,
                cast(tok_cache_write_1h AS DECIMAL(14, 0)) * r_cache_write_1h, cast(tok_cache_write_12h AS DECIMAL(14, 0)) * r_cache_write_12h) IS NOT NULL
            THEN coalesce(cast(tok_cache_write_5m AS DECIMAL(14, 0)) * r_cache_write_5m, 0)
                + coalesce(cast(tok_cache_write_30m AS DECIMAL(14, 0)) * r_cache_write_30m, 0)
                + coalesce(cast(tok_cache_write_1h AS DECIMAL(14, 0)) * r_cache_write_1h, 0)
                + coalesce(cast(tok_cache_write_12h AS DECIMAL(14, 0)) * r_cache_write_12h, 0) END AS x_write,
        CASE WHEN NOT whole AND coalesce(cast(tok_output AS DECIMAL(14, 0)) * r_output, cast(tok_output_audio AS DECIMAL(14, 0)) * r_output_audio, cast(tok_output_image AS DECIMAL(14, 0)) * r_output_image) IS NOT NULL
            THEN coalesce(cast(tok_output AS DECIMAL(14, 0)) * r_output, 0)
                + coalesce(cast(tok_output_audio AS DECIMAL(14, 0)) * r_output_audio, 0)
                + coalesce(cast(tok_output_image AS DECIMAL(14, 0)) * r_output_image, 0) END AS x_out,
        CASE WHEN NOT whole THEN cast(tok_reasoning AS DECIMAL(14, 0)) * r_reasoning END AS x_reason,
        x_other
    FROM rated
),

rounded AS (
    SELECT
        *,
        CASE WHEN whole THEN w_in WHEN x_in IS NOT NULL THEN cast(floor(x_in) AS BIGINT) + CASE
            WHEN x_in - floor(x_in) > 0.5 OR (x_in - floor(x_in) = 0.5 AND mod(cast(floor(x_in) AS BIGINT), 2) = 1) THEN 1 ELSE 0 END
        END AS part_in,
        CASE WHEN whole THEN w_read WHEN x_read IS NOT NULL THEN cast(floor(x_read) AS BIGINT) + CASE
            WHEN x_read - floor(x_read) > 0.5 OR (x_read - floor(x_read) = 0.5 AND mod(cast(floor(x_read) AS BIGINT), 2) = 1) THEN 1 ELSE 0 END
        END AS part_read,
        CASE WHEN whole THEN w_write WHEN x_write IS NOT NULL THEN cast(floor(x_write) AS BIGINT) + CASE
            WHEN x_write - floor(x_write) > 0.5 OR (x_write - floor(x_write) = 0.5 AND mod(cast(floor(x_write) AS BIGINT), 2) = 1) THEN 1 ELSE 0 END
        END AS part_write,
        CASE WHEN whole THEN w_out WHEN x_out IS NOT NULL THEN cast(floor(x_out) AS BIGINT) + CASE
            WHEN x_out - floor(x_out) > 0.5 OR (x_out - floor(x_out) = 0.5 AND mod(cast(floor(x_out) AS BIGINT), 2) = 1) THEN 1 ELSE 0 END
        END AS part_out,
        CASE WHEN whole THEN w_reason WHEN x_reason IS NOT NULL THEN cast(floor(x_reason) AS BIGINT) + CASE
            WHEN x_reason - floor(x_reason) > 0.5 OR (x_reason - floor(x_reason) = 0.5 AND mod(cast(floor(x_reason) AS BIGINT), 2) = 1) THEN 1 ELSE 0 END
        END AS part_reason,
        CASE WHEN x_other IS NOT NULL THEN cast(floor(x_other) AS BIGINT) + CASE
            WHEN x_other - floor(x_other) > 0.5 OR (x_other - floor(x_other) = 0.5 AND mod(cast(floor(x_other) AS BIGINT), 2) = 1) THEN 1 ELSE 0 END
        END AS part_other
    FROM summed
),

judged AS (
    SELECT
        *,
        CASE
            WHEN cost_state = 'not_billed' THEN 'not_billed'
            WHEN cost_state = 'unknown' OR NOT has_usage THEN 'unknown'
            WHEN impossible OR price_row IS NULL THEN 'unpriced'
            WHEN coalesce(part_in, part_read, part_write, part_out, part_reason, part_other) IS NULL THEN 'unpriced'
            WHEN NOT lacking THEN 'priced'
            WHEN coalesce(part_in, 0) + coalesce(part_read, 0) + coalesce(part_write, 0) + coalesce(part_out, 0)
                + coalesce(part_reason, 0) + coalesce(part_other, 0) > 0 THEN 'partly'
            ELSE 'unpriced'
        END AS state
    FROM rounded
)

SELECT
    request_key,
    coalesce(provider_id, provider) AS provider_id,
    coalesce(model_id, model) AS model_id,
    CASE WHEN state IN ('priced', 'partly') THEN part_in WHEN state = 'not_billed' THEN 0 END AS input_pusd,
    CASE WHEN state IN ('priced', 'partly') THEN part_read WHEN state = 'not_billed' THEN 0 END AS cache_read_pusd,
    CASE WHEN state IN ('priced', 'partly') THEN part_write WHEN state = 'not_billed' THEN 0 END AS cache_write_pusd,
    CASE WHEN state IN ('priced', 'partly') THEN part_out WHEN state = 'not_billed' THEN 0 END AS output_pusd,
    CASE WHEN state IN ('priced', 'partly') THEN part_reason WHEN state = 'not_billed' THEN 0 END AS reasoning_pusd,
    CASE WHEN state IN ('priced', 'partly') THEN part_other WHEN state = 'not_billed' THEN 0 END AS other_pusd,
    CASE
        WHEN state IN ('priced', 'partly')
            THEN coalesce(part_in, 0) + coalesce(part_read, 0) + coalesce(part_write, 0) + coalesce(part_out, 0)
                + coalesce(part_reason, 0) + coalesce(part_other, 0)
        WHEN state = 'not_billed' THEN 0
    END AS cost_list_pusd,
    CASE
        WHEN state IN ('priced', 'partly')
            THEN coalesce(part_in, 0) + coalesce(part_read, 0) + coalesce(part_write, 0) + coalesce(part_out, 0)
                + coalesce(part_reason, 0) + coalesce(part_other, 0)
        WHEN state = 'not_billed' THEN 0
    END AS cost_pusd,
    CASE WHEN state IN ('priced', 'partly') THEN price_row END AS price_row,
    $book AS price_book,
    state AS cost_state,
    CASE
        WHEN state IN ('priced', 'partly') AND assumed THEN 'sum_of_calls'
        WHEN state <> 'unpriced' THEN NULL
        WHEN impossible THEN 'impossible_tokens'
        WHEN rate_key IS NULL THEN 'unknown_model'
        WHEN at_us IS NULL THEN 'no_time'
        WHEN at_prompt IS NULL THEN 'no_prompt_tokens'
        ELSE 'no_price'
    END AS price_warning
FROM judged
