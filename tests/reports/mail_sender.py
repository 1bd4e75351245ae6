"""A process that sends what waits in an outbox, to be killed: FOLDER, PORT of the mail server, NOW in microseconds."""

from __future__ import annotations

import sys
from email.message import EmailMessage
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.control import open_control, outbox
from reports import post, smtp


def compose(letter: outbox.Letter) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"] = "halve@acme.example", letter.recipient
    mail["Subject"], mail["Message-ID"] = letter.period, letter.message_id
    mail.set_content("A report.\n" * 400)
    return mail


def main() -> None:
    folder, port, now_us = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    where = smtp.Server("127.0.0.1", port, "", "", tls=False, from_the_start=False)
    office = post.Office(
        control=open_control(folder),
        data_dir=folder,
        zone="UTC",
        recipients=(),
        sender="halve@acme.example",
        compose=compose,
        deliver=smtp.sender(where),
    )
    post.deliver_due(office, lambda: now_us)


if __name__ == "__main__":
    main()
