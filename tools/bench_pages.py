"""Server-side time of the pages of a running service: p50 and p95 of 200 calls each, one after another.

    python tools/bench_pages.py [http://127.0.0.1:8080]

Calls go over loopback with one kept connection, so the figures are the service's own time plus a little.
"""

from __future__ import annotations

import http.client
import sys
import time
from urllib.parse import urlsplit

PAGES = ("/", "/?period=30d", "/?period=30d&by=model", "/savings", "/requests?period=30d", "/sources")
CALLS = 200


def main() -> None:
    address = urlsplit(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080")
    connection = http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=30)
    for page in PAGES:
        spent = []
        for _ in range(CALLS):
            began = time.perf_counter()
            connection.request("GET", page)
            answer = connection.getresponse()
            body = answer.read()
            spent.append(1000 * (time.perf_counter() - began))
            if answer.status != http.client.OK:
                raise SystemExit(f"{page}: status {answer.status}")
        spent.sort()
        print(
            f"{page:<28} p50 {spent[CALLS // 2]:6.1f} ms   p95 {spent[CALLS * 95 // 100]:6.1f} ms   {len(body):,} bytes"
        )


if __name__ == "__main__":
    main()
