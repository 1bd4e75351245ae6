"""The composition root: opens stores, fills in callables, starts the service. It wires and holds no logic of its own.

`runtime` opens what the others need; `offline` serves commands that read logs and leave nothing; `store` serves those
on the data folder; `serving` runs the dashboard with its background work; `refresh` is what follows new requests.
"""
