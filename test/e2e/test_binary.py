"""What the shipped program is made like: hardening, allocator, debug information, and which OpenSSL its TLS runs on."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from firn import BINARY
from kafka_broker import ROOT


def readelf(*options) -> str:
    return subprocess.run(["readelf", "-W", *options, BINARY], capture_output=True, text=True, check=True).stdout


def needed() -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", readelf("-d"))


def openssl_bindings(command: list) -> set[str]:
    """The libraries that libssl's calls of EVP_DigestInit_ex went to when the program was loaded."""
    environment = {**os.environ, "LD_DEBUG": "bindings", "LD_BIND_NOW": "1"}
    said = subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stderr
    return set(re.findall(r"binding file \S*libssl\.so\S* \[0\] to (\S+) \[0\]: normal symbol `EVP_DigestInit_ex'", said))


def test_libssl_runs_on_the_libcrypto_of_the_system():
    # The wheel's libparquet exports an OpenSSL of its own; libssl must not end up in it.
    libraries = openssl_bindings([BINARY, "version"])
    assert len(libraries) == 1 and "libcrypto.so" in libraries.pop()


def test_libssl_of_the_unit_tests_runs_on_the_libcrypto_of_the_system():
    executables = sorted((ROOT / "build").glob("*/bin/*_test"))
    if not executables:
        pytest.skip("no unit tests are built")
    for executable in executables:
        for library in openssl_bindings([executable, "--gtest_list_tests"]):
            assert "libcrypto.so" in library, f"{executable.name}: EVP_DigestInit_ex of libssl resolves to {library}"


def test_libssl_stands_before_arrow_in_the_search_order():
    order = needed()
    arrow = next(i for i, name in enumerate(order) if name.startswith(("libarrow", "libparquet")))
    assert order.index("libssl.so.3") < arrow
    assert order.index("libcrypto.so.3") < arrow


def test_jemalloc_comes_first():
    assert needed()[0].startswith("libjemalloc.so")


def test_it_is_position_independent_with_full_relro():
    assert re.search(r"Type:\s+DYN", readelf("-h"))
    assert "GNU_RELRO" in readelf("-l")
    dynamic = readelf("-d")
    assert "BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic)


def test_its_stack_is_not_executable():
    assert re.search(r"GNU_STACK\s+\S+ \S+ \S+ \S+ \S+ RW\s", readelf("-l"))


def test_it_has_stack_protectors_and_checked_library_calls():
    symbols = readelf("--dyn-syms")
    assert "__stack_chk_fail" in symbols
    assert re.search(r"__(memcpy|memmove|snprintf|vsnprintf|fprintf|read)_chk", symbols)


def test_it_has_a_build_id_and_debug_information_beside_it():
    assert re.search(r"Build ID: [0-9a-f]{40}", readelf("-n"))
    assert ".gnu_debuglink" in readelf("-S")
    assert ".debug_info" not in readelf("-S")
    assert Path(f"{BINARY}.debug").stat().st_size > 0
