"""Pages and API: a `View` from the URL becomes facts, facts a Page dataclass, the dataclass a template."""
