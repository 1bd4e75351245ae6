-- Everything that waited is attributed.
DELETE FROM unattributed
