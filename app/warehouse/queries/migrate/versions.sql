-- The versions of the warehouse that ran: version.
SELECT version FROM warehouse_version ORDER BY version
