-- Notes sources that were not known: their format and what their tokens mean in money, as the format says.
INSERT INTO sources (source, format, billing, billing_said_by)
SELECT n.source, n.format, n.billing, 'format'
FROM incoming_sources AS n
WHERE n.source NOT IN (SELECT source FROM sources)
