"""The store: its files, its doors and its transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import polars as pl
import pytest

from app.core.errors import ConflictError, UnavailableError
from app.warehouse.migrate import available, migrate
from app.warehouse.store import HANDLES_CLEARED_EVERY, KEPT_PAGES_BYTES, Warehouse
from tests.analysis.facts import add_requests

if TYPE_CHECKING:
    from pathlib import Path


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    assert migrate(warehouse) == [version for version, _, _ in available()]
    assert migrate(warehouse) == []
    warehouse.close()
    reopened = Warehouse(tmp_path)
    assert migrate(reopened) == []
    with reopened.session() as session:
        assert session.connection.execute("SELECT count(*) FROM requests").fetchall() == [(0,)]
        assert session.connection.execute("SELECT count(*) FROM contents").fetchall() == [(0,)]
    reopened.close()


def test_segments_of_an_older_store_get_the_time_of_their_request(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    migrate(warehouse)
    with warehouse.writing() as session:
        add_requests(session, [{"request_key": key, "start_us": start} for key, start in ((1, 700), (2, None))])
        session.connection.execute(
            "INSERT INTO segments SELECT request_key, 0, 'user', 'text', 1, 1, 1, 1, NULL, true, 600 FROM requests"
        )
        session.connection.execute("DELETE FROM warehouse_version WHERE version = 26")
    assert migrate(warehouse) == [26]
    with warehouse.session() as session:
        placed = session.connection.execute("SELECT request_key, start_us FROM segments ORDER BY 1").fetchall()
    assert placed == [(1, 700), (2, None)]
    warehouse.close()


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    migrate(warehouse)
    with warehouse.writing() as session:
        session.execute("migrate.record", version=9999, name="later", applied_us=0)
    with pytest.raises(ConflictError, match="newer"):
        migrate(warehouse)
    warehouse.close()


@pytest.mark.parametrize("in_memory", [True, False])
def test_no_query_reads_a_file_outside_the_data_folder(tmp_path: Path, in_memory: bool) -> None:
    warehouse = Warehouse(None if in_memory else tmp_path)
    with warehouse.session() as session:
        for attempt in ("SELECT * FROM read_text('/etc/passwd')", "ATTACH '/tmp/other.duckdb' AS other"):
            with pytest.raises(duckdb.PermissionException):
                session.connection.execute(attempt)
        for setting in ("threads = 64", "temp_directory = '/tmp'", "allowed_configs = ['threads']"):
            with pytest.raises(duckdb.Error, match=r"lock|Cannot"):
                session.connection.execute(f"SET {setting}")
        session.register("given", pl.DataFrame({"x": [1, 2]}))
        assert session.connection.execute("SELECT sum(x) FROM given").fetchall() == [(3,)]
    warehouse.close()


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    migrate(warehouse)

    def fail_half_way() -> None:
        with warehouse.writing() as session:
            session.execute("migrate.record", version=77, name="never", applied_us=0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    with warehouse.session() as session:
        assert (77,) not in session.rows("migrate.versions")
    warehouse.close()


def test_a_query_over_its_time_is_stopped() -> None:
    warehouse = Warehouse(None)
    endless = "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE (a.range * b.range) % 7 = 3"
    with pytest.raises(UnavailableError, match="did not end"), warehouse.session(timeout_s=0.2) as session:
        session.connection.execute(endless)
    with warehouse.session() as session:
        assert session.connection.execute("SELECT 1").fetchall() == [(1,)]
    warehouse.close()


def test_a_second_process_is_told_who_may_hold_the_store(tmp_path: Path) -> None:
    (tmp_path / "warehouse.duckdb").mkdir()
    with pytest.raises(UnavailableError, match="cannot be opened"):
        Warehouse(tmp_path)


def test_pages_that_nobody_reads_are_given_back_and_queries_go_on(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, memory_limit="1GB")
    used = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    with warehouse.writing() as session:
        made = "SELECT hash(range) AS a, hash(range + 1) AS b FROM range(20000000)"
        session.connection.execute(f"CREATE TABLE big AS {made}")
    warehouse.checkpoint()
    with warehouse.session() as session:
        session.connection.execute("SELECT count(*) FROM big WHERE a % 7 = b % 7").fetchall()
        ((before,),) = session.connection.execute(used).fetchall()
        warehouse.let_go()
        ((after,),) = session.connection.execute(used).fetchall()
        assert after <= KEPT_PAGES_BYTES < before
        assert session.connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("953.6 MiB",)]
        assert session.connection.execute("SELECT count(*) FROM big WHERE a IS NULL").fetchall() == [(0,)]
        with pytest.raises(duckdb.InvalidInputException, match="lock"):
            session.connection.execute("SET temp_directory = '/tmp'")
    warehouse.close()


def test_every_page_is_given_back_once_in_a_while_and_nothing_is_lost(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path, memory_limit="1GB")
    with warehouse.writing() as session:
        session.connection.execute("CREATE TABLE stored AS SELECT hash(range) AS a FROM range(2000000)")
    warehouse.checkpoint()
    with warehouse.writing() as session:  # in the log alone: it must be spilled, not dropped
        session.connection.execute("CREATE TABLE fresh AS SELECT hash(range) AS a FROM range(500000)")
    read = "SELECT sum(a) FROM (FROM stored UNION ALL FROM fresh)"
    with warehouse.session() as session:
        (before,) = session.connection.execute(read).fetchall()
        held = [warehouse.held_bytes()]
        for _ in range(HANDLES_CLEARED_EVERY):
            warehouse.let_go()
            held.append(warehouse.held_bytes())
        assert min(held[:-1]) > 16_000_000 > held[-1]
        assert session.connection.execute("SELECT current_setting('memory_limit')").fetchall() == [("953.6 MiB",)]
        assert session.connection.execute(read).fetchall() == [before]
    warehouse.close()


def test_pieces_that_checkpoints_leave_are_merged_at_night_and_at_the_end(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    with warehouse.writing() as session:
        session.connection.execute("CREATE TABLE grown (a BIGINT)")

    def pieces() -> tuple[int, int]:
        with warehouse.session() as session:
            ((found,),) = session.connection.execute(
                "SELECT count(DISTINCT row_group_id) FROM pragma_storage_info('grown')"
            ).fetchall()
            ((rows,),) = session.connection.execute("SELECT count(*) FROM grown").fetchall()
        return found, rows

    def grow(times: int) -> None:
        for _ in range(times):
            with warehouse.writing() as session:
                session.connection.execute("INSERT INTO grown SELECT range FROM range(100)")
            warehouse.checkpoint()

    grow(12)
    assert pieces() == (12, 1200)
    with warehouse.writing() as session:
        session.connection.execute("INSERT INTO grown VALUES (1)")
    warehouse.merge_row_groups()
    assert pieces()[0] <= 2
    grow(5)
    assert pieces()[0] >= 5
    with warehouse.writing() as session:
        session.connection.execute("INSERT INTO grown VALUES (2)")
    warehouse.close()
    warehouse = Warehouse(tmp_path)
    found, rows = pieces()
    assert found <= 3
    assert rows == 12 * 100 + 5 * 100 + 2
    warehouse.close()
