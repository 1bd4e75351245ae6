-- Notes that a slice of a version is done.
INSERT INTO cost_slices (
    version, from_us, to_us, requests, changed, passed_over, priced_before, priced_after, before_pusd, after_pusd,
    done_us
)
SELECT
    $version, $from_us, $to_us, $requests, $changed, $passed_over, $priced_before, $priced_after,
    cast($before_pusd AS DECIMAL(38, 0)), cast($after_pusd AS DECIMAL(38, 0)), $done_us
