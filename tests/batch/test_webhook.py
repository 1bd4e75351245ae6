"""The message to the caller: signed, tried again, sent once, only to hosts that are allowed."""

from __future__ import annotations

import base64
import hmac
import json
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from world import chats

from app.control import batches


class Hook:
    """Takes messages; answers with the statuses that a test lists, then 200."""

    def __init__(self):
        self.statuses, self.got = [], []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_arguments):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                hook.got.append((dict(self.headers), body))
                self.send_response(hook.statuses.pop(0) if hook.statuses else 200)
                self.send_header("content-length", "0")
                self.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/done"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()


@pytest.fixture
def hook(monkeypatch):
    monkeypatch.setenv("HOOK_KEY", "very secret")
    found = Hook()
    yield found
    found.server.shutdown()
    found.server.server_close()
    found.thread.join()


def test_the_caller_is_told_once_with_a_signature_that_proves_it(world, openai, hook):
    hook.statuses = [500, 503]
    job = world.submit(chats(2), base_url=openai.url, webhook_url=hook.url, webhook_key_ref="env:HOOK_KEY", feature="f")
    world.until_settled(job)
    world.advance(times=20, every_s=60)
    assert len(hook.got) == 3
    headers, body = hook.got[-1]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.new(b"very secret", signed, sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{wanted}"
    told = json.loads(body)
    assert (told["job"], told["outcome"], told["succeeded"], told["feature"]) == (job.id, "completed", 2, "f")
    assert batches.webhook_of(world.control, job.id).state == "sent"


def test_a_refusal_ends_the_tries_and_stays_visible(world, openai, hook):
    hook.statuses = [404] * 9
    job = world.submit(chats(1), base_url=openai.url, webhook_url=hook.url, webhook_key_ref="env:HOOK_KEY")
    world.until_settled(job)
    world.advance(times=5, every_s=3600)
    message = batches.webhook_of(world.control, job.id)
    assert (len(hook.got), message.state, message.error) == (1, "failed", "status 404")


def test_a_host_that_is_not_allowed_is_not_told(world, openai, hook):
    url = hook.url.replace("127.0.0.1", "localhost")
    job = world.submit(chats(1), base_url=openai.url, webhook_url=url, webhook_key_ref="env:HOOK_KEY")
    world.until_settled(job)
    assert hook.got == []
    assert "HALVE_ALLOW_HOSTS" in batches.webhook_of(world.control, job.id).error
