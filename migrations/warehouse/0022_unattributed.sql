-- Requests that wait for attribution and roll-ups: whoever stores a request names it here, so that finding what is new
-- does not mean comparing all requests with all attributions. A name may be out of date (its request was replaced or
-- taken out since); a request that is missing here is found by counting (attribution.unqueued).
CREATE TABLE unattributed (
    request_key BIGINT NOT NULL,
    start_us BIGINT                 -- of the request, so that only its own stretch of time is read
);
