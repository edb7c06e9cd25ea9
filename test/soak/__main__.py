"""./dev soak [--minutes N] [--seed S]: everything goes wrong around Firn for a while, and an oracle looks whether each record came once.
./dev soak --try-out: 2,000,000 records, 100 kills, counted by Spark, DuckDB and PyIceberg."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from soak import schedule
from soak.report import show
from soak.run import Soak
from soak.try_out import TryOut


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("./dev soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10, help="how long things go wrong (10); the end takes a minute more")
    parser.add_argument("--seed", type=int, help="of the plan (default: drawn, and printed)")
    parser.add_argument("--spark", action="store_true", help="Spark rewrites and expires, too, and counts at the end")
    parser.add_argument("--catalog", choices=schedule.CATALOGS, help="instead of the one that the seed draws")
    parser.add_argument("--workers", type=int, choices=(1, 2, 3), help="the same for the number of processes")
    parser.add_argument("--tables", type=int, choices=(1, 2), help="the same for the number of tables")
    parser.add_argument("--rate", type=int, help="the same for records a second")
    parser.add_argument("--folder", type=Path, help="where everything goes (default: a new one below $TMPDIR)")
    parser.add_argument("--keep", action="store_true", help="keep the folder of a good run, too")
    parser.add_argument("--plan", action="store_true", help="print what would be done, and leave")
    parser.add_argument("--try-out", action="store_true", help="the counted try-out instead of a soak")
    parser.add_argument("--records", type=int, default=2_000_000, help="of the try-out")
    parser.add_argument("--kills", type=int, default=100, help="of the try-out")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1_000_000)
    if asked.try_out:
        return run(lambda folder: TryOut(folder, seed, asked.records, asked.kills, asked.catalog or "postgres"), "try-out", seed, asked)
    instead = {key: getattr(asked, key) for key in ("catalog", "workers", "tables", "rate")}
    plan = schedule.draw(seed, asked.minutes * 60, asked.spark, **instead)
    if asked.plan:
        print(plan, end="")
        return 0
    print(str(plan).splitlines()[0], flush=True)
    return run(lambda folder: Soak(plan, folder, loud=True), "soak", seed, asked)


def run(make, name: str, seed: int, asked: argparse.Namespace) -> int:
    folder = asked.folder or Path(tempfile.mkdtemp(prefix=f"firn-{name}-{seed}-"))
    folder.chmod(0o755) if folder.exists() else folder.mkdir(parents=True)
    result = make(folder).run()
    print(show(name, seed, result))
    if not result.failures and not asked.keep:
        shutil.rmtree(folder)
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
