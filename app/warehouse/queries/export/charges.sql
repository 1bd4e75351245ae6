-- One row a charge of the span that begins at from_us, or of each hour where $hourly: the lines of {lines}
-- (export.classes) of {requests} by everything that names a charge. {listed} are the lines of those requests that cost
-- another amount at list. Columns: from_us (of the charge), provider, account, model_id, region, class, price_row,
-- price_book, cost_state (other_row: usage on a bill of which another row says the cost; it costs 0 here), source,
-- billing, service_tier, is_batch, operation, feature, team, environment, confidence (of the price row: confirmed,
-- estimated; billed for days that only a bill knows; NULL where no row is at hand), requests (NULL where a bill counts
-- none), tokens, charge (credit, refund, fee, tax; NULL: usage), unit and units (of a fee for one kind of unit: its name in
-- the units of requests, and how many), rate, list_rate (USD a token), cost_usd, list_usd, billed_usd (0 where the source
-- is known not to be billed by the request, NULL where nobody said). Unknown is NULL.
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
),

joined AS (
    SELECT
        coalesce(l.request_key, n.request_key) AS request_key,
        coalesce(l.class, n.class) AS class,
        coalesce(l.tokens, n.tokens) AS tokens,
        l.cost_pusd, l.rate, n.cost_pusd AS listed_pusd, n.rate AS listed_rate
    FROM {lines} AS l
    FULL OUTER JOIN {listed} AS n ON n.request_key = l.request_key AND n.class = l.class
),

charged AS (
    SELECT
        CASE WHEN $hourly THEN r.at_us - r.at_us % 3600000000 ELSE $from_us END AS from_us,
        r.provider, r.account, coalesce(r.model_id, r.model) AS model_id, r.region,
        CASE WHEN r.charge IS NOT NULL AND j.class = 'fees' THEN r.charge ELSE j.class END AS class,
        r.charge,
        CASE WHEN j.class = 'fees' THEN nullif(
            regexp_extract(r.units, '^[{] *"([a-z_]+)" *: *[0-9]{1,12}(?:[.][0-9]+)? *[}]$', 1), ''
        ) END AS unit,
        CASE WHEN j.class = 'fees' THEN cast(
            nullif(regexp_extract(r.units, '^[{] *"[a-z_]+" *: *([0-9]{1,12}(?:[.][0-9]+)?) *[}]$', 1), '') AS DECIMAL(20, 6)
        ) END AS units,
        r.price_row, r.price_book,
        CASE
            WHEN r.assigned_by = 'bill' AND r.cost_state = 'priced' AND j.cost_pusd IS NULL THEN 'other_row'
            ELSE r.cost_state
        END AS cost_state,
        r.source,
        CASE
            WHEN coalesce(r.service_tier, '') IN ('provisioned', 'reserved', 'scale') THEN 'provisioned'
            ELSE coalesce(b.billing, 'unknown')
        END AS billing,
        r.service_tier, r.is_batch, r.operation,
        r.feature, r.team, r.environment,
        CASE WHEN r.assigned_by = 'bill' THEN 'billed' ELSE p.status END AS confidence,
        r.calls, j.tokens, j.rate,
        CASE
            WHEN r.assigned_by = 'bill' AND r.cost_state = 'priced' AND j.cost_pusd IS NULL THEN 0
            ELSE j.cost_pusd
        END AS cost_pusd,
        CASE WHEN r.cost_list_pusd <> r.cost_pusd THEN j.listed_rate ELSE j.rate END AS list_rate,
        CASE
            WHEN r.assigned_by = 'bill' AND r.cost_state = 'priced' AND j.cost_pusd IS NULL THEN 0
            WHEN r.cost_list_pusd <> r.cost_pusd THEN j.listed_pusd
            WHEN r.cost_list_pusd IS NOT NULL THEN j.cost_pusd
        END AS list_pusd
    FROM joined AS j
    INNER JOIN {requests} AS r ON r.request_key = j.request_key
    LEFT JOIN billing_of AS b ON b.billed_source = r.source
    LEFT JOIN price_rates AS p ON p.book = r.price_book AND p.price_row = r.price_row
),

summed AS (
    SELECT
        from_us, provider, account, model_id, region, class, price_row, price_book, cost_state, source, billing, service_tier,
        is_batch, operation, feature, team, environment, confidence, charge, unit, rate, list_rate,
        cast(sum(units) AS DECIMAL(38, 6)) AS units,
        cast(sum(cast(calls AS DECIMAL(38, 0))) AS BIGINT) AS requests,
        cast(sum(cast(tokens AS DECIMAL(38, 0))) AS BIGINT) AS tokens,
        cast(sum(cast(cost_pusd AS DECIMAL(38, 0))) AS DECIMAL(25, 0)) AS cost_pusd,
        cast(sum(cast(list_pusd AS DECIMAL(38, 0))) AS DECIMAL(25, 0)) AS list_pusd
    FROM charged
    GROUP BY
        from_us, provider, account, model_id, region, class, price_row, price_book, cost_state, source, billing, service_tier,
        is_batch, operation, feature, team, environment, confidence, charge, unit, rate, list_rate
)

SELECT
    from_us, provider, account, model_id, region, class, price_row, price_book, cost_state, source, billing,
    service_tier, is_batch, operation, feature, team, environment, confidence, requests, tokens,
    charge, unit, CASE WHEN unit IS NOT NULL THEN units END AS units,
    rate * cast('0.000000000001' AS DECIMAL(13, 12)) AS rate,
    list_rate * cast('0.000000000001' AS DECIMAL(13, 12)) AS list_rate,
    cost_pusd * cast('0.000000000001' AS DECIMAL(13, 12)) AS cost_usd,
    list_pusd * cast('0.000000000001' AS DECIMAL(13, 12)) AS list_usd,
    CASE
        WHEN billing = 'api' THEN cost_pusd * cast('0.000000000001' AS DECIMAL(13, 12))
        WHEN billing <> 'unknown' THEN cast(0 AS DECIMAL(38, 12))
    END AS billed_usd
FROM summed
ORDER BY
    from_us, provider, account, model_id, feature, team, environment, class, region, price_row, price_book, cost_state, source,
    service_tier, is_batch, operation, charge, unit, rate, list_rate
