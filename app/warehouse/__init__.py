"""The store of facts: opening it, its migrations, and the catalogue of named queries. All SQL of Halve lives here."""
