-- Takes away what newer exports replaced: the rows of overtaken_billed.
DELETE FROM billed
WHERE (source, report, scope, day, export, page)
    IN (SELECT source, report, scope, cast(day AS DATE), export, page FROM overtaken_billed)
