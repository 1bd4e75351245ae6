-- The temporary table {into}: the rows of {images} that still fit their request.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT * FROM {images} WHERE same_call
