"""Alerts of budgets: each threshold once, the real figures in the message, whatever happens in between."""

from __future__ import annotations

import threading
from dataclasses import replace
from email import message_from_bytes
from email.policy import default
from typing import TYPE_CHECKING

import pytest
from budget_office import TO, Office, us
from report_office import mailbox

from app.analysis.budgets import lines
from app.control import budgets, open_control, outbox
from app.control.budgets import FORECAST, newly
from app.core.errors import ConflictError, NotFoundError
from app.core.money import pico
from app.main import budgets as deeds
from app.main import reporting
from reports import alerts, archive, plain

if TYPE_CHECKING:
    from app.control.budgets import Alert


def text_of(alert: Alert) -> str:
    return " ".join(plain.text(alerts.document(alert, "UTC"), "").split())


def test_a_threshold_is_told_once_and_not_by_every_request_after_it(office: Office) -> None:
    """LLMC-106."""
    office.budget("20.00", "80 100")
    told = []
    for number, cost in enumerate(["15.90", "0.20", "0.20", "4.00", "1.00"], 1):
        office.spend(cost)
        told += [(alert.threshold, number) for alert in office.watch()]
    assert told == [("80", 2), ("100", 4)]
    assert len(office.letters()) == 2 * len(TO.split())


def test_two_workers_and_restarts_tell_each_threshold_once(office: Office) -> None:
    """LLMC-107."""
    office.budget("100.00", "50 80")
    office.spend("55.00")
    start = threading.Barrier(2)
    told: list[Alert] = []

    def work() -> None:
        engine = open_control(office.folder)
        start.wait()
        told.extend(deeds.watch(replace(office.runtime, control=engine), office.settings, now=office.clock))
        engine.dispose()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    office.restart()
    told += office.watch()
    office.spend("30.00")
    told += office.watch()
    office.restart()
    office.spend("1.00")
    told += office.watch()
    assert sorted((alert.threshold, alert.also) for alert in told) == [("50", ()), ("80", ())]
    assert [(item.period, item.state) for item in office.letters()] == [("2026-11-01", "queued")] * 4


def test_the_message_names_the_threshold_that_was_passed_and_the_amount_of_that_moment(office: Office) -> None:
    """LLMC-113."""
    office.budget("1000.00", "80 85 95")
    subjects, texts = [], []
    for cost in ("810.00", "45.00", "100.00"):
        office.spend(cost)
        for alert in office.watch():
            subjects.append(alerts.document(alert, "UTC").subject)
            texts.append(text_of(alert))
    assert subjects == [
        "Budget all passed 80%: $810.00 of $1,000.00 spent, 1–30 Nov 2026",
        "Budget all passed 85%: $855.00 of $1,000.00 spent, 1–30 Nov 2026",
        "Budget all passed 95%: $955.00 of $1,000.00 spent, 1–30 Nov 2026",
    ]
    for text, share in zip(texts, ("81.0%", "85.5%", "95.5%"), strict=True):
        assert f"(UTC): {share} of the budget of $1,000.00" in text
        assert "The period runs 1–30 Nov 2026, in UTC." in text


def test_several_thresholds_at_once_are_one_message_with_the_highest_and_the_real_spend(office: Office) -> None:
    office.budget("100", "50 80 100")
    office.spend("137.25")
    [alert] = office.watch()
    assert (alert.threshold, alert.also) == ("100", ("50", "80"))
    said = text_of(alert)
    assert "passed 100%: $137.25 of $100.00 spent" in said
    assert "It passed 50% and 80% too" in said
    assert "Over: $37.25" in said
    assert len(office.letters()) == 2
    assert office.watch() == []


def test_a_mail_says_later_what_was_true_when_the_threshold_was_passed(office: Office) -> None:
    office.budget("100", "50 80")
    office.spend("55", feature="chat")
    office.watch()
    office.spend("20", feature="search")
    office.clock.us += 3_600_000_000
    reporting.send_waiting(office.runtime, office.settings, now=office.clock)
    for letter in office.letters():
        assert letter.state == "archived"
        mail = message_from_bytes(archive.file_of(office.folder, letter), policy=default)
        assert mail["Subject"] == "Budget all passed 50%: $55.00 of $100.00 spent, 1–30 Nov 2026"
        body = mail.get_body(("plain",))
        assert body is not None
        assert "search" not in body.get_content()
        html = mail.get_body(("html",))
        assert html is not None
        assert "Halve · budget alert" in html.get_content()


def test_mails_arrive_once_and_are_tried_again_where_the_server_is_busy(office: Office) -> None:
    with mailbox() as box:
        office.smtp_url = box.url
        box.answers = ["451 come back later"]
        office.budget("100", "50")
        office.spend("60")
        office.watch()
        reporting.send_waiting(office.runtime, office.settings, now=office.clock)
        assert [item.state for item in office.letters()] == ["queued", "sent"]
        office.clock.us += outbox.BACK_OFF_US[0]
        office.restart()
        for _ in range(2):
            reporting.send_waiting(office.runtime, office.settings, now=office.clock)
        assert sorted(mail["To"] for mail in box.received) == TO.split()
        assert {mail["Subject"] for mail in box.received} == {
            "Budget all passed 50%: $60.00 of $100.00 spent, 1–30 Nov 2026"
        }


def test_spend_that_falls_and_rises_again_tells_nothing_anew(office: Office) -> None:
    office.budget("100", "50 80")
    key = office.spend("85")
    assert [alert.threshold for alert in office.watch()] == ["80"]
    office.correct(key, "40")
    assert office.watch() == []
    office.correct(key, "85")
    assert office.watch() == []
    office.correct(key, "60")
    assert office.watch() == []


def test_the_next_period_begins_afresh(office: Office) -> None:
    office.budget("100", "50")
    office.spend("60")
    assert len(office.watch()) == 1
    office.clock.us = us("2026-12-18T12:00+00:00")
    assert office.watch() == []
    office.spend("70")
    [alert] = office.watch()
    assert (alert.period, alert.facts["spent_usd"]) == ("2026-12-01", "70")


def test_what_comes_late_for_a_period_that_just_ended_is_told_and_says_so(office: Office) -> None:
    office.budget("100", "80")
    office.clock.us = us("2026-12-01T06:00+00:00")
    office.spend("90", at="2026-11-30T23:00+00:00")
    [alert] = office.watch()
    assert alert.period == "2026-11-01"
    assert "The period is over: logs that came late passed the threshold." in text_of(alert)
    assert office.watch() == []


def test_what_comes_much_later_is_told_no_more(office: Office) -> None:
    office.budget("100", "80")
    office.clock.us = us("2026-12-04T06:00+00:00")
    office.spend("90", at="2026-11-30T23:00+00:00")
    assert office.watch() == []


def test_a_budget_says_nothing_about_periods_that_were_over_before_it_was_set(office: Office) -> None:
    office.clock.us = us("2026-12-01T06:00+00:00")
    office.spend("90", at="2026-11-30T23:00+00:00")
    budget = office.budget("100", "80")
    office.change(budget, amount="50", thresholds="80")
    assert office.watch() == []


def test_another_amount_is_measured_anew_and_going_back_repeats_nothing(office: Office) -> None:
    budget = office.budget("100", "80")
    office.spend("85")
    assert len(office.watch()) == 1
    office.change(budget, amount="1000", thresholds="80")
    assert office.watch() == []
    office.change(budget, amount="90", thresholds="80")
    [alert] = office.watch()
    assert (alert.threshold, alert.facts["amount_usd"]) == ("80", "90")
    office.change(budget, amount="100", thresholds="80")
    assert office.watch() == [], "that was told before"


def test_another_name_arms_nothing_and_a_new_threshold_is_looked_at_at_once(office: Office) -> None:
    budget = office.budget("100", "80")
    office.spend("85")
    assert len(office.watch()) == 1
    office.change(budget, name="renamed", amount="100", thresholds="80")
    assert office.watch() == []
    office.change(budget, name="renamed", amount="100", thresholds="50 80")
    assert office.watch() == [], "a lower threshold behind one that was told says nothing new"
    office.change(budget, name="renamed", amount="100", thresholds="80 84")
    assert [alert.threshold for alert in office.watch()] == ["84"]


def test_what_has_no_price_is_said_and_is_no_zero(office: Office) -> None:
    office.budget("100", "50")
    office.spend("60")
    office.spend(None)
    [alert] = office.watch()
    document = alerts.document(alert, "UTC")
    assert document.subject.endswith("- 1 request without a whole price")
    assert (
        "1 request of 2 without a whole price: what they cost is unknown and not in the sum (50.0% of tokens"
        in (document.warnings[0])
    )


def test_spend_of_which_nothing_has_a_price_passes_nothing(office: Office) -> None:
    office.budget("0.01", "1")
    office.spend(None)
    assert office.watch() == []


@pytest.mark.parametrize(
    ("scope", "own"),
    [
        ("feature=chat", {"feature": "chat"}),
        ("team=core", {}),
        ("provider=openai", {"provider": "openai"}),
        ("model=gpt-5", {"model_id": "gpt-5"}),
        ("api_key=prod", {"api_key_alias": "prod"}),
    ],
)
def test_a_budget_covers_its_scope_and_nothing_else(office: Office, scope: str, own: dict[str, str]) -> None:
    office.budget("10", "50", scope=scope)
    if scope != "team=core":
        for other in ({"feature": "search", "provider": "x", "model_id": "x", "api_key_alias": "x"},):
            office.spend("9", **other)
        assert office.watch() == []
    office.spend("6", **own)
    [alert] = office.watch()
    assert alert.facts["spent_usd"] == "6"
    assert f"It covers {scope.replace('=', ' ').replace('api_key', 'API key')}." in text_of(alert)


def test_a_forecast_above_the_amount_is_told_once_with_its_interval(office: Office) -> None:
    for day in range(1, 18):
        office.spend("10", at=f"2026-11-{day:02}T12:00+00:00")
    office.spend("1")
    office.clock.us += 3_600_000_000
    office.budget("250", "80 100", forecast=True)
    [alert] = office.watch()
    assert (alert.threshold, alert.also) == (FORECAST, ())
    said = text_of(alert)
    assert "Budget all is heading for $296.00 of $250.00" in alerts.document(alert, "UTC").subject
    assert "80% interval $296.00 to $296.00), above the budget" in said
    office.clock.us += 3_600_000_000
    assert office.watch() == []


def test_a_threshold_and_the_forecast_at_once_are_one_message(office: Office) -> None:
    for day in range(1, 18):
        office.spend("10", at=f"2026-11-{day:02}T12:00+00:00")
    office.spend("1")
    office.budget("200", "80 100", forecast=True)
    [alert] = office.watch()
    assert (alert.threshold, alert.also) == ("80", (FORECAST,))


def test_a_crash_between_claim_and_mail_leaves_both_or_none(office: Office) -> None:
    """The claim and its mails are one transaction: where queueing dies, the next look finds everything to do."""
    budget = office.budget("100", "50")
    office.spend("60")

    class Died(BaseException):
        pass

    def die() -> dict[str, str]:
        raise Died

    with pytest.raises(Died):
        budgets.claim(
            office.runtime.control, budget, period="2026-11-01", crossed=("50",), facts={}, recipients=die, now_us=1
        )
    office.restart()
    assert office.letters() == []
    assert [alert.threshold for alert in office.watch()] == ["50"]
    assert len(office.letters()) == 2


def test_nobody_by_mail_means_the_archive(office: Office) -> None:
    office.mail_to = ""
    office.budget("100", "50")
    office.spend("60")
    office.watch()
    reporting.send_waiting(office.runtime, office.settings, now=office.clock)
    assert [(item.recipient, item.state) for item in office.letters()] == [("", "archived")]


def test_a_removed_budget_is_silent_and_its_name_is_free(office: Office) -> None:
    budget = office.budget("100", "50")
    with pytest.raises(ConflictError, match="stands already"):
        office.budget("200")
    budgets.remove(office.runtime.control, budget.id, office.clock())
    office.spend("500")
    assert office.watch() == []
    with pytest.raises(NotFoundError, match="number"):
        office.change(budget, amount="5")
    assert office.budget("200").id != budget.id


@pytest.mark.parametrize(
    ("crossed", "known", "fresh", "carrier"),
    [
        (("50",), frozenset(), ("50",), "50"),
        (("50", "80"), frozenset({"50"}), ("80",), "80"),
        (("50", "80"), frozenset({"80"}), ("50",), None),
        (("50", FORECAST), frozenset({"50"}), (FORECAST,), FORECAST),
        (("50", FORECAST), frozenset({FORECAST}), ("50",), "50"),
        (("40", "50", FORECAST), frozenset({"50"}), ("40", FORECAST), FORECAST),
        ((), frozenset({"50"}), (), None),
    ],
)
def test_the_message_is_of_the_highest_threshold_that_is_new(
    crossed: tuple[str, ...], known: frozenset[str], fresh: tuple[str, ...], carrier: str | None
) -> None:
    assert newly(crossed, known) == (fresh, carrier)


def test_a_look_is_taken_again_only_when_something_changed(office: Office) -> None:
    lookout = deeds.Lookout(office.runtime, office.clock)
    assert not lookout.has_work()
    office.budget("100", "50")
    office.spend("60")
    assert lookout.has_work()
    assert lookout.has_work(), "until it is done"
    office.watch()
    assert not lookout.has_work()
    office.spend("1")
    assert not lookout.has_work()


def test_amounts_beyond_64_bits_of_pico_dollars_are_kept_exactly(office: Office) -> None:
    budget = office.budget("123456789012.000000000001", "50")
    [standing] = budgets.standing(office.runtime.control)
    assert standing.terms.amount_pusd == pico("123456789012.000000000001") == budget.terms.amount_pusd


def test_nothing_asked_is_a_zero_only_where_a_log_reaches(office: Office) -> None:
    budget = office.budget("100", "50", every="day", scope="feature=chat")
    office.spend("5", at="2026-11-17T12:00+00:00")
    with office.runtime.warehouse.session() as session:
        [line] = lines(session, [budget], office.clock())
    assert line.standing.spent_pusd is None
    office.spend("5", feature="search")
    with office.runtime.warehouse.session() as session:
        [line] = lines(session, [budget], office.clock())
    assert line.standing.spent_pusd == 0
