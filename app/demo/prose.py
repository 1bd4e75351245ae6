"""The words of the demo: long instructions from `texts/`, and sentences put together from short lists.

Every draw comes from the caller's random source, so the same source gives the same text whatever flaws are on.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from app.demo.company import CITIES, COMPANIES, GOODS, PRODUCTS, between, pick, reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random


@cache
def instructions(name: str) -> str:
    """A long standing instruction."""
    return files("app.demo").joinpath("texts", f"{name}.txt").read_text(encoding="utf-8").strip()


_SLOTS: dict[str, Callable[[Random], str]] = {
    "{city}": lambda rng: pick(rng, CITIES),
    "{city2}": lambda rng: pick(rng, CITIES),
    "{goods}": lambda rng: pick(rng, GOODS),
    "{product}": lambda rng: pick(rng, PRODUCTS),
    "{firm}": lambda rng: pick(rng, COMPANIES),
    "{ref}": reference,
    "{n}": lambda rng: str(between(rng, 2, 48)),
    "{sum}": lambda rng: f"{between(rng, 45, 9800)}.{between(rng, 10, 99)}",
    "{hour}": lambda rng: f"{between(rng, 6, 19)}:{pick(rng, ('00', '15', '30', '45'))}",
    "{day}": lambda rng: pick(rng, ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")),
}


@cache
def _pieces(template: str) -> tuple[str, ...]:
    """A sentence cut at its slots."""
    found, rest = [], template
    while "{" in rest:
        start, end = rest.index("{"), rest.index("}") + 1
        found += [rest[:start], rest[start:end]]
        rest = rest[end:]
    return (*found, rest)


def fill(rng: Random, template: str) -> str:
    """A sentence with its slots filled; an unknown slot stays for the caller."""
    return "".join([_SLOTS[piece](rng) if piece in _SLOTS else piece for piece in _pieces(template)])


def sentences(rng: Random, bank: Sequence[str], n: int) -> str:
    """`n` filled sentences in a row."""
    return " ".join([fill(rng, pick(rng, bank)) for _ in range(n)])


QUESTIONS = (
    "Where is {ref}? It should have been in {city} on {day} at {hour}.",
    "The rate from {city} to {city2} changed between search and booking, now it says {sum} euros. Why?",
    "We booked {n} pallets of {goods} and the carrier corrected the weight of {ref}. How do I dispute this?",
    "My colleague has left the company, how do I remove her from {product}?",
    "The invoice of last month shows {sum} euros for {product} twice, can you credit one line?",
    "Can I still change the delivery address of {ref} from {city} to {city2}?",
    "Our declaration for {n} packages of {goods} is refused, the origin is filled in. What is missing?",
    "The webhook for {ref} did not arrive, the call to our server in {city} failed on {day}.",
    "We missed our slot in {city} by ten minutes on {day}, will the gate still take {ref}?",
    "How do I export all contract rates from {city} to {city2} as a table?",
    "{firm} did not get the invitation to {product}, we sent it on {day}.",
    "Why is {ref} on hold? The {goods} must be in {city} by {day}.",
)
DETAILS = (
    "The order is for {firm}.",
    "We need to tell our customer before {hour}.",
    "It is about {n} units of {goods}.",
    "The same happened with {ref} on {day}.",
    "I have already tried it twice in {product}.",
    "The driver waits in {city} since {hour}.",
    "In the list it is shown with {sum} euros.",
)
ANSWERS = (
    "Consignment {ref} is on its way and the last status was sent from {city} on {day} at {hour}.",
    "The carrier has changed the rate between your search and your booking, so both amounts are shown.",
    'Open "{product}", choose the entry of {firm}, and press "Correct".',
    "You can dispute the weight within fourteen days with a photograph of the scale.",
    "The hold ends as soon as the invoice over {sum} euros is uploaded in the right-hand column.",
    'An administrator removes the person under "Settings", "People".',
    "A credit note needs the number of the invoice, the line and the reason.",
    "The new price of {sum} euros is shown before you confirm the change to {city}.",
    "The slot in {city} is lost after thirty minutes, so ten minutes late is still accepted.",
    "We repeat the delivery to your server for twenty-four hours with growing pauses.",
    "If this does not help, I can pass the conversation to a colleague who answers within fifteen minutes.",
)

DOC_TOPICS = (
    "booking a part load", "weight corrections", "customs preference", "rate import", "time slots", "webhook repeats",
    "two-step sign-in", "credit notes", "fuel surcharge", "address changes", "test environment", "driver messages",
    "dangerous goods", "label printing", "return pallets", "carrier scorecards", "dock planning", "tariff search",
)  # fmt: skip
DOC_QUESTIONS = (
    "How does {topic} work in {product}?",
    "What are the limits for {topic} on the plan Fleet in {city}?",
    "Is there a way to automate {topic} for {firm}?",
    "Which permissions does {topic} need in {product}?",
    "Why is {topic} greyed out for consignments to {city}?",
    "What changed for {topic} in the last release of {product}?",
)
DOC_SENTENCES = (
    "In {product}, {topic} is found in the menu of a consignment and needs the role dispatcher or above.",
    "Since the last release {topic} may be planned up to {n} days ahead.",
    "A change of {topic} is written to the record with user, time and the values before and after.",
    "For consignments to {city} the carrier confirms {topic} at the latest at {hour}.",
    "The interface answers with status 409 when {topic} is already under way.",
    "Amounts above {sum} euros need a second person who approves {topic}.",
    "If {topic} fails, the entry stays in the list with a red mark and can be sent again for {n} hours.",
    "Exports of {topic} hold one row for each leg, with dates in the zone of the place.",
)

TICKETS = (
    "Since {day} our drivers get no code for {city}, {n} of them wait at the gate.",
    "Please cancel {ref}, the customer {firm} has withdrawn the order of {goods}.",
    "The amount of {sum} euros was taken twice from our account.",
    "We would like to see the scorecard of the carrier by country, is this planned for {product}?",
    "After the update {product} shows an empty page when I open {ref}.",
    "Two pallets of {goods} arrived broken in {city}, photographs are attached.",
    "How many users may we add before the next step of the price list?",
    "Our key for the interface was published by mistake, please revoke it at once.",
)

INVOICE_ITEMS = (
    "Carriage {city} - {city2}, {n} pallets", "Fuel surcharge", "Toll {city}", "Waiting time {hour}",
    "Customs handling", "Tail lift", "Storage {n} days", "Pallet exchange",
    "Cold chain supplement", "Weekend delivery {city}",
)  # fmt: skip

STATUS_NOTES = (
    "Vehicle reported at {city} at {hour}, seal intact, {n} units of {goods} counted.",
    "Carrier message: delayed by works on the line to {city2}, new arrival {day} {hour}.",
    "Document check for {ref}: invoice and packing list differ by {n} cartons.",
    "Temperature log of {goods} uploaded, {n} readings, none above the limit.",
    "Consignee {firm} asks for delivery after {hour} at the rear gate.",
    "Customs release for {ref} received, duty {sum} euros.",
    "Driver changed in {city}, new plate announced to the yard.",
)
REPORT_SENTENCES = (
    "Consignment {ref} moves from {city} to {city2} with {n} units of {goods}.",
    "The delay is caused by the works on the line and the new arrival is {day} at {hour}.",
    "{firm} has been told and accepts delivery at the rear gate.",
    "The count differs by {n} cartons from the packing list, which needs a corrected document.",
    "Duty of {sum} euros is confirmed and the release has been received.",
    "No temperature reading was above the limit during the leg to {city}.",
    "The next check is planned for {day} at {hour}.",
    "No further action by the dispatcher is needed before the arrival in {city2}.",
)

CHAT_TALK = (
    "Can you load {n} pallets more on {day}, same consignee?",
    "The gate in {city} closes at {hour}, please be there before.",
    "Your driver was late again for {ref} and nobody told us.",
    "We can do {city} to {city2} for {sum} plus toll.",
    "Reference for the pick-up of {goods} is changed, the new one is in the booking.",
    "Please send the delivery note of {ref} as a scan.",
    "We need a tail lift and two straps for every pallet of {goods}.",
    "Half on the invoice, half in cash at the ramp in {city}.",
)

CAMPAIGN_ASKS = (
    "Write the opening of our newsletter for {firm}: new slots in {city} from {day}.",
    "Shorter, please, and mention {product} and the {n} new carriers.",
    "A subject line and two sentences about {goods} from {city} to {city2}.",
    "Make a friendly reminder for the webinar on {day} at {hour}, topic {product}.",
    "Rewrite this for customers in {city}: rates for {goods} fall to {sum} euros.",
)
CAMPAIGN_COPY = (
    "Good news for everyone who ships {goods}: from {day} there are {n} new slots in {city}.",
    "With {product} you see the rate from {city} to {city2} before you pick up the phone.",
    "Join us on {day} at {hour}, bring your questions, and leave with a plan.",
    "{firm} already saves an hour a day, and you can too.",
    "Rates start at {sum} euros this month.",
)

CODE_TASKS = (
    "The export of rates drops the last row when a carrier has no surcharge. Find out why and fix it, with a test.",
    "Add a filter by yard to the list of slots, keep the query within the index, and show the filter in the URL.",
    "Webhooks are repeated without a pause when the server answers 503. Make the pause grow and cap it at one hour.",
    "Replace the hand-written date parsing in the customs module by the shared one and remove the dead code.",
    "The weight correction page takes four seconds for large bookings. Measure it, then make it faster.",
)
CODE_THOUGHTS = (
    "I will look at the module that builds the rows first.",
    "The loop ends one element early when the list of surcharges is empty, so the last row is lost.",
    "Before I change anything I want to see how the tests build a booking.",
    "The query sorts in memory because the filter column is not part of the index.",
    "Now I run the tests of this package to see whether something else depended on the old order.",
    "The failing test shows that the pause is computed in seconds but passed on as milliseconds.",
    "I will write the test before the change so that it fails for the right reason.",
)
CODE_LINES = (
    "def rows(self, booking):",
    "    for leg in booking.legs[:-1]:",
    "        yield Row(leg.origin, leg.destination, leg.price)",
    "    if not booking.surcharges:",
    "        return",
    "    query = select(Slot).where(Slot.yard_id == yard).order_by(Slot.starts_at)",
    "    pause = min(base * 2 ** attempt, MAX_PAUSE_S)",
    "    assert export(booking)[-1].price == expected",
    "    log.info('sent %s after %d attempts', hook.id, attempt)",
    "class RateTable(Table):",
    "    columns = ('origin', 'destination', 'unit', 'price', 'currency')",
    "        weight = sum(item.net_weight for item in booking.items)",
    "E   AssertionError: 11 != 12",
    "tests/rates/test_export.py::test_last_row_is_kept FAILED",
    "        return parse_date(text, zone=booking.zone)",
    "    with self.session.begin():",
)
