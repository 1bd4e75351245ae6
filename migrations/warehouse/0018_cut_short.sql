-- Whether the page that a line came from says that another follows.
ALTER TABLE billed ADD COLUMN has_more BOOLEAN;
