-- What is held out, by source and the source that counts instead: source, counted_source, requests, cost_pusd.
SELECT h.source, h.counted_source, count(*) AS requests, sum(cast(r.cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM held_out h
JOIN requests r ON r.request_key = h.request_key
GROUP BY h.source, h.counted_source
ORDER BY h.source, h.counted_source
