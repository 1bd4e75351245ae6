-- The temporary view {into}: what stands in the facts for each row of {priced} (columns of pricing.priced), given what
-- {requests} says (request_key, provider, model, price_context, cost_reported_pusd, warnings without those of pricing).
-- Where the price context says that the provider's own response reported its charge, that is what was paid: alone where
-- no rate is known, else what it holds beyond the rates (a fee) stands in other_pusd. Any other reported cost is a
-- claim of the logger's: kept beside, flagged where it differs from both prices by more than 1 % and $0.000001.
-- Columns: request_key, provider, model_id, six parts, cost_list_pusd, cost_pusd, price_row, price_book, cost_state,
-- warnings.
CREATE OR REPLACE TEMP VIEW {into} AS
WITH charged AS (
    SELECT
        p.*,
        i.provider AS said_provider,
        i.model,
        i.warnings AS said_warnings,
        i.cost_reported_pusd,
        CASE
            WHEN i.price_context LIKE '%"charge": "reported"%'
                AND p.cost_state <> 'not_billed'
                AND i.cost_reported_pusd > coalesce(p.cost_pusd, -1)
                THEN i.cost_reported_pusd - coalesce(p.cost_pusd, 0)
        END AS beyond_pusd
    FROM {priced} AS p
    INNER JOIN {requests} AS i ON i.request_key = p.request_key
),

judged AS (
    SELECT
        *,
        CASE
            WHEN beyond_pusd > 0 AND model LIKE '%:free' THEN 'free_model_charged'
            WHEN beyond_pusd IS NOT NULL THEN NULL
            WHEN cost_state = 'priced'
                AND abs(cost_reported_pusd - cost_pusd) > greatest(cost_pusd / 100, 1000000)
                AND abs(cost_reported_pusd - coalesce(cost_list_pusd, cost_pusd))
                > greatest(coalesce(cost_list_pusd, cost_pusd) / 100, 1000000)
                THEN coalesce(price_warning || ' ', '') || 'reported_cost_disagrees'
            ELSE price_warning
        END AS warning
    FROM charged
)

SELECT
    request_key,
    coalesce(said_provider, provider_id) AS provider,
    model_id,
    input_pusd, cache_read_pusd, cache_write_pusd, output_pusd, reasoning_pusd,
    CASE WHEN beyond_pusd IS NULL THEN other_pusd ELSE coalesce(other_pusd, 0) + beyond_pusd END AS other_pusd,
    CASE
        WHEN beyond_pusd IS NULL THEN cost_list_pusd
        WHEN cost_pusd IS NULL THEN cost_reported_pusd
        ELSE cost_list_pusd + beyond_pusd
    END AS cost_list_pusd,
    CASE WHEN beyond_pusd IS NULL THEN cost_pusd ELSE cost_reported_pusd END AS cost_pusd,
    CASE
        WHEN beyond_pusd IS NOT NULL AND cost_pusd IS NULL
            THEN 'as charged by ' || coalesce(said_provider, provider_id, 'the provider')
        ELSE price_row
    END AS price_row,
    price_book,
    CASE WHEN beyond_pusd IS NULL THEN cost_state ELSE 'priced' END AS cost_state,
    CASE
        WHEN warning IS NULL THEN said_warnings
        WHEN said_warnings IS NULL THEN warning
        ELSE said_warnings || ' ' || warning
    END AS warnings
FROM judged
