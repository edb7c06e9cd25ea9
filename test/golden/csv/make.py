"""Random rows in several dialects, written by Python's csv module: NAME.csv, and NAME.json with what they must be read as.

    python test/golden/csv/make.py

The dialects' settings are repeated in src/firn/decode/csv/csv_golden_test.cc.
"""

from __future__ import annotations

import csv
import io
import json
import pathlib
import random

HERE = pathlib.Path(__file__).parent
NULL = "NULL"
HEADER = ["id", "a", "b", "c"]
UNICODE = "äß€√✓日本𝄞"
LATIN1 = "äßÿé¶"
CP1252 = "äß€œ™–"

# name: (encoding, characters beyond ASCII, settings of csv.writer)
DIALECTS = {
    "rfc4180": ("utf-8", UNICODE, {"lineterminator": "\r\n"}),
    "bom": ("utf-8-sig", UNICODE, {"lineterminator": "\r\n"}),
    "tabs": ("utf-8", UNICODE, {"delimiter": "\t", "lineterminator": "\r\n"}),
    "all_quoted": ("utf-8", UNICODE, {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"}),
    "carriage_returns": ("utf-8", UNICODE, {"quoting": csv.QUOTE_ALL, "lineterminator": "\r"}),
    "semicolons": ("utf-8", UNICODE, {"delimiter": ";", "quotechar": "'", "lineterminator": "\r\n"}),
    "backslash": ("utf-8", UNICODE, {"doublequote": False, "escapechar": "\\", "lineterminator": "\r\n"}),
    "no_quotes": (
        "utf-8",
        UNICODE,
        {"quoting": csv.QUOTE_NONE, "escapechar": "\\", "delimiter": "|", "lineterminator": "\r\n"},
    ),
    "utf16le": ("utf-16-le", UNICODE, {"lineterminator": "\r\n"}),
    "utf16be": ("utf-16-be", UNICODE, {"quoting": csv.QUOTE_ALL, "lineterminator": "\n"}),
    "latin1": ("latin-1", LATIN1, {"lineterminator": "\r\n"}),
    "windows1252": ("cp1252", CP1252, {"lineterminator": "\r\n"}),
}


def text(rng: random.Random, special: str, nulls: bool) -> str | None:
    if nulls and rng.random() < 0.1:
        return None
    alphabet = "ab1 ,;|\t\"'\\\r\n" + special
    return "".join(rng.choice(alphabet) for _ in range(rng.randrange(0, 9)))


def write(name: str) -> None:
    encoding, special, settings = DIALECTS[name]
    rng = random.Random(name)
    nulls = settings.get("quoting") != csv.QUOTE_ALL  # what is quoted is text
    rows = [[str(i), *(text(rng, special, nulls) for _ in range(3))] for i in range(80)]
    out = io.StringIO(newline="")
    writer = csv.writer(out, **settings)
    writer.writerow(HEADER)
    writer.writerows([NULL if cell is None else cell for cell in row] for row in rows)
    bom = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    (HERE / f"{name}.csv").write_bytes(bom + out.getvalue().encode(encoding))
    (HERE / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for dialect in DIALECTS:
        write(dialect)
