-- Begins a version.
INSERT INTO cost_versions (
    version, kind, restores, price_book, prices, from_us, to_us, zone, who, why, started_us, ended_us, ending
)
SELECT
    $version, $kind, $restores, $price_book, $prices, $from_us, $to_us, $zone, $who, $why, $started_us, NULL, NULL
