-- Stores the texts that are not there yet.
INSERT INTO texts.contents (hash, text, seen_us)
SELECT n.hash, n.text, $seen_us
FROM incoming_texts AS n
WHERE n.hash NOT IN (SELECT c.hash FROM texts.contents AS c WHERE c.hash IN (SELECT hash FROM incoming_texts))
