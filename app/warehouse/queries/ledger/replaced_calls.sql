-- How many rows of {images} fit their request no longer. One row: requests.
SELECT count(*) AS requests FROM {images} WHERE NOT same_call
