-- Every version with what its slices did, the newest first: the columns of cost_versions, then through_us (NULL before
-- its first slice), requests, changed, passed_over, priced_before, priced_after, before_pusd, after_pusd.
SELECT
    v.version, v.kind, v.restores, v.price_book, v.prices, v.from_us, v.to_us, v.zone, v.who, v.why, v.started_us,
    v.ended_us, v.ending,
    max(s.to_us) AS through_us,
    coalesce(sum(s.requests), 0) AS requests,
    coalesce(sum(s.changed), 0) AS changed,
    coalesce(sum(s.passed_over), 0) AS passed_over,
    coalesce(sum(s.priced_before), 0) AS priced_before,
    coalesce(sum(s.priced_after), 0) AS priced_after,
    coalesce(sum(s.before_pusd), 0) AS before_pusd,
    coalesce(sum(s.after_pusd), 0) AS after_pusd
FROM cost_versions AS v
LEFT JOIN cost_slices AS s ON s.version = v.version
GROUP BY
    v.version, v.kind, v.restores, v.price_book, v.prices, v.from_us, v.to_us, v.zone, v.who, v.why, v.started_us,
    v.ended_us, v.ending
ORDER BY v.version DESC
