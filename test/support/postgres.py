"""A real PostgreSQL server on a free port of 127.0.0.1, with its data in a folder of its own that goes away with it.

    with Postgres() as server:
        server.create_database("lake")
        server.uri("lake")              # postgresql://firn:...@127.0.0.1:PORT/lake
        server.crash(); server.start()
        with server.standby() as other: # a synchronous one: no commit is acknowledged before it is there
            server.crash(); other.promote()

As a program it runs a command beside a server, whose URI the command finds in $FIRN_TEST_POSTGRES:

    postgres.py run ctest ...
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import psycopg2
from ports import die_with_parent, free_port

BIN = Path("/usr/lib/postgresql/15/bin")
SUPERUSER = "postgres"
USER = "firn"
PASSWORD = "se:sa@m/öffne dich"  # what a URI has to escape

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",  # a crash of the server is tested, not one of the machine
    "shared_buffers": "16MB",
    "max_connections": "60",
    "autovacuum": "off",
    "logging_collector": "off",
    "log_min_error_statement": "panic",
}


def unprivileged_user() -> dict:
    """How a process is started as somebody else: the server refuses to run as root."""
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Postgres:
    """Starts on entry, stops and removes its folder on exit. `stop`, `crash` and `start` may be called in between: data and port stay."""

    def __init__(self, settings: dict[str, str] | None = None):
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="firn-postgres-"))
        self._settings = {**SETTINGS, "port": str(self.port), "unix_socket_directories": str(self.folder), **(settings or {})}
        self._as_user = unprivileged_user()
        self._process: subprocess.Popen | None = None
        self._primary: Postgres | None = None

    def __enter__(self) -> Postgres:
        try:
            if "user" in self._as_user:
                os.chown(self.folder, self._as_user["user"], self._as_user["group"])
            if self._primary:
                self._copy(self._primary)
            else:
                self._make()
                self.start()
                self.execute(f"CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{PASSWORD}'")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- a second server

    def standby(self) -> Postgres:
        """One that holds every commit that this server acknowledges from here on, and takes none until it is promoted."""
        other = Postgres()
        other._primary = self
        return other

    def promote(self) -> None:
        """Takes changes from now on."""
        self._run("pg_ctl", "promote", "-D", self.folder / "data", "-w")

    def is_standby(self) -> bool:
        return self.execute("SELECT pg_is_in_recovery()") == [(True,)]

    def _copy(self, primary: Postgres) -> None:
        name = f"standby_{self.port}"
        self._run(
            "pg_basebackup", "-D", self.folder / "data", "-R", "-X", "stream", "-c", "fast", "--no-sync",
            "-d", f"host={primary.folder} port={primary.port} user={SUPERUSER} application_name={name}",
        )  # fmt: skip
        self._configure()
        self.start()
        primary.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        primary.execute("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 30
        while primary.execute("SELECT sync_state FROM pg_stat_replication") != [("sync",)]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"no synchronous standby after 30 s: {primary.execute('SELECT * FROM pg_stat_replication')}")
            time.sleep(0.05)

    # --- the process

    def start(self) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [BIN / "postgres", "-D", self.folder / "data"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder, preexec_fn=die_with_parent, **self._as_user,
            )  # fmt: skip
        self._wait_until_it_answers()

    def stop(self) -> None:
        """Ends open connections and stops cleanly."""
        self._end(signal.SIGINT)

    def crash(self) -> None:
        """Stops at once; the next start recovers from the log."""
        self._end(signal.SIGQUIT)

    def _end(self, how: int) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _make(self) -> None:
        self._run(
            "initdb", "-D", self.folder / "data", "-U", SUPERUSER, "--no-sync", "--encoding=UTF8", "--locale=C",
            "--auth-local=trust", "--auth-host=scram-sha-256",
        )  # fmt: skip
        self._configure()

    def _configure(self) -> None:
        with (self.folder / "data" / "postgresql.conf").open("a") as config:
            config.writelines(f"{key} = '{value}'\n" for key, value in self._settings.items())

    def _run(self, program: str, *arguments) -> None:
        done = subprocess.run([BIN / program, *arguments], capture_output=True, text=True, cwd=self.folder, check=False, **self._as_user)
        if done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")

    def add_file(self, name: str, content: bytes) -> None:
        """Into the data folder, as the server wants its keys: readable for itself alone."""
        path = self.folder / "data" / name
        path.write_bytes(content)
        path.chmod(0o600)
        if "user" in self._as_user:
            os.chown(path, self._as_user["user"], self._as_user["group"])

    def _wait_until_it_answers(self, timeout_s: float = 60) -> None:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                psycopg2.connect(self._superuser_dsn("postgres")).close()
                return
            except psycopg2.OperationalError:
                time.sleep(0.05)
        tail = (self.folder / "server.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"PostgreSQL did not come up within {timeout_s:.0f} s:\n{tail}")

    # --- databases

    def _superuser_dsn(self, database: str) -> str:
        return f"host={self.folder} port={self.port} user={SUPERUSER} dbname={database}"

    def execute(self, sql: str, database: str = "postgres") -> list[tuple]:
        """As the superuser; the rows of a query."""
        connection = psycopg2.connect(self._superuser_dsn(database))
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def create_database(self, name: str) -> str:
        """Owned by USER; its URI."""
        self.execute(f'CREATE DATABASE "{name}" OWNER {USER}')
        return self.uri(name)

    def uri(self, database: str, user: str = USER, password: str | None = PASSWORD, port: int | None = None, scheme: str = "postgresql") -> str:
        secret = "" if password is None else ":" + quote(password, safe="")
        return f"{scheme}://{user}{secret}@127.0.0.1:{port or self.port}/{database}"


def main() -> int:
    if sys.argv[1:2] != ["run"] or len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    with Postgres() as server:
        environment = {**os.environ, "FIRN_TEST_POSTGRES": server.create_database("unit")}
        return subprocess.run(sys.argv[2:], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
