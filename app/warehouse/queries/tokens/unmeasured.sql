-- The kept texts that were not measured yet: seg_hash, text.
SELECT c.hash AS seg_hash, c.text
FROM contents AS c
WHERE NOT EXISTS (SELECT 1 FROM text_measures AS m WHERE m.seg_hash = c.hash)
