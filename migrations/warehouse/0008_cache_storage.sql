-- The fee of an explicit cache that is rented by time: pico-USD for a million tokens kept for an hour.

ALTER TABLE price_rates ADD COLUMN r_cache_storage DECIMAL(24, 6);
