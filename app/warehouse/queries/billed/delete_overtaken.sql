-- Takes away what newer exports replaced: the rows of overtaken_billed.
DELETE FROM billed
WHERE (source, report, scope, day, coalesce(last_day, day), export, page)
    IN (SELECT source, report, scope, cast(day AS DATE), cast(last_day AS DATE), export, page FROM overtaken_billed)
