"""The demo's prompt caches keep the providers' rules: minimum, steps, lifetime, marks, look-back, write before read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.demo.provider import AutomaticCache, Block, MarkedCache
from app.demo.tokens import Tokenizer, count

SECOND = 1_000_000
MINUTE = 60 * SECOND
STABLE = tuple(range(1_300))


def _ask(cache: AutomaticCache, prompt: tuple[int, ...], at: int, model: str = "m") -> int:
    return cache.lookup(model, prompt, at, at + SECOND)


def test_the_second_of_two_long_prompts_reads_their_common_start_in_whole_steps() -> None:
    cache = AutomaticCache()
    assert _ask(cache, (*STABLE, 1, 2, 3), 0) == 0
    assert _ask(cache, (*STABLE, 7, 8, 9), MINUTE) == 1_280


def test_a_difference_at_the_head_lets_nothing_be_read() -> None:
    cache = AutomaticCache()
    _ask(cache, (9_001, *STABLE), 0)
    assert _ask(cache, (9_002, *STABLE), MINUTE) == 0


def test_a_prompt_below_the_minimum_is_never_cached() -> None:
    cache = AutomaticCache()
    assert [_ask(cache, STABLE[:1_023], at * SECOND * 10) for at in range(3)] == [0, 0, 0]


def test_a_common_start_below_the_minimum_is_not_read() -> None:
    cache = AutomaticCache()
    _ask(cache, (*STABLE[:900], *range(9_000, 9_500)), 0)
    assert _ask(cache, (*STABLE[:900], *range(8_000, 8_500)), MINUTE) == 0


def test_an_entry_lives_as_long_as_it_is_used_within_its_lifetime() -> None:
    cache = AutomaticCache(ttl_s=300)
    reads = [_ask(cache, STABLE, at * MINUTE) for at in (0, 5, 10, 16, 20)]
    assert reads == [0, 1_280, 1_280, 0, 1_280]


def test_an_entry_cannot_be_read_before_the_answer_that_wrote_it_began() -> None:
    cache = AutomaticCache()
    assert cache.lookup("m", STABLE, 0, 3 * SECOND) == 0
    assert cache.lookup("m", STABLE, 2 * SECOND, 5 * SECOND) == 0
    assert cache.lookup("m", STABLE, 3 * SECOND, 6 * SECOND) == 1_280


def test_models_share_no_cache() -> None:
    cache = AutomaticCache()
    _ask(cache, STABLE, 0, "large")
    assert _ask(cache, STABLE, MINUTE, "small") == 0


def _blocks(*tokens: int, marks: tuple[int, ...] = (), salt: str = "") -> list[Block]:
    """Blocks of these sizes; the chain of one is the sizes up to it."""
    found, total = [], 0
    for position, size in enumerate(tokens):
        total += size
        found.append(Block(hash((salt, tokens[: position + 1])), total, position in marks))
    return found


def test_without_marks_nothing_is_written_or_read() -> None:
    cache = MarkedCache()
    uses = [cache.lookup(_blocks(2_000, 500), at * MINUTE, at * MINUTE) for at in range(2)]
    assert [(use.read, use.written, use.uncached) for use in uses] == [(0, 0, 2_500)] * 2


def test_a_mark_is_written_once_and_then_read() -> None:
    cache = MarkedCache()
    first = cache.lookup(_blocks(2_000, 500, marks=(0,)), 0, SECOND)
    second = cache.lookup(_blocks(2_000, 700, marks=(0,)), MINUTE, MINUTE + SECOND)
    assert (first.read, first.written, first.uncached) == (0, 2_000, 500)
    assert (second.read, second.written, second.uncached) == (2_000, 0, 700)


def test_a_moving_mark_reads_what_the_step_before_wrote_and_writes_the_rest() -> None:
    cache = MarkedCache()
    cache.lookup(_blocks(1_500, 300, marks=(1,)), 0, SECOND)
    use = cache.lookup(_blocks(1_500, 300, 80, 400, marks=(3,)), MINUTE, MINUTE)
    assert (use.read, use.written, use.uncached) == (1_800, 480, 0)


def test_a_mark_looks_back_over_twenty_blocks_and_no_further() -> None:
    for added, read in ((19, 1_500), (20, 0)):
        cache = MarkedCache()
        cache.lookup(_blocks(1_500, marks=(0,)), 0, SECOND)
        use = cache.lookup(_blocks(1_500, *[10] * added, marks=(added,)), MINUTE, MINUTE)
        assert use.read == read


def test_a_marked_prefix_below_the_minimum_is_silently_not_cached() -> None:
    cache = MarkedCache(minimum=1_024)
    uses = [cache.lookup(_blocks(1_000, 900, marks=(0,)), at * MINUTE, at * MINUTE) for at in range(2)]
    assert [(use.read, use.written) for use in uses] == [(0, 0)] * 2


def test_reading_renews_the_five_minutes() -> None:
    cache = MarkedCache()
    prompt = _blocks(2_000, marks=(0,))
    reads = [cache.lookup(prompt, at * MINUTE, at * MINUTE + SECOND).read for at in (0, 4, 8, 14)]
    assert reads == [0, 2_000, 2_000, 0]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10 * MINUTE),
            st.lists(st.integers(1, 900), min_size=1, max_size=6),
            st.sets(st.integers(0, 5), max_size=4),
        ),
        max_size=20,
    )
)
def test_the_three_classes_of_a_marked_prompt_always_add_up(
    calls: list[tuple[int, list[int], set[int]]],
) -> None:
    cache, now = MarkedCache(minimum=512), 0
    for gap, sizes, marks in calls:
        now += gap
        use = cache.lookup(_blocks(*sizes, marks=tuple(marks)), now, now + SECOND)
        assert use.read + use.written + use.uncached == sum(sizes)
        assert min(use.read, use.written, use.uncached) >= 0


@given(st.lists(st.text(alphabet="abcXYZ019 .,-\n", max_size=30), max_size=5))
def test_tokens_of_a_text_are_the_tokens_of_its_lines(lines: list[str]) -> None:
    tokenizer = Tokenizer()
    whole = tokenizer.encode("\n".join(lines))
    assert whole == tuple(token for line in lines for token in tokenizer.encode(line))
    assert len(whole) == count("\n".join(lines))
