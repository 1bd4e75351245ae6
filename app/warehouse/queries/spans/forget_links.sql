-- Drops links that came before before_us: their traces are over.
DELETE FROM span_links WHERE seen_us < $before_us
