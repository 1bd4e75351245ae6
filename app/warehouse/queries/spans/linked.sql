-- The traces of incoming_traces in which anything stands under something, of calls started in [from_us, to_us) and of
-- links: trace_id. In the others no call can repeat another, and nothing of them needs to be read.
SELECT trace_id FROM requests
WHERE parent_id IS NOT NULL AND start_us >= $from_us AND start_us < $to_us
    AND trace_id IN (SELECT trace_id FROM incoming_traces)
UNION
SELECT trace_id FROM span_links WHERE trace_id IN (SELECT trace_id FROM incoming_traces)
