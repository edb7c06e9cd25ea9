"""The plan of a soak comes from its seed alone."""

from __future__ import annotations

import pytest
from soak.schedule import CALM_S, CATALOGS, draw


def test_a_seed_gives_one_plan_and_another_seed_another():
    assert str(draw(7, 300)) == str(draw(7, 300))
    assert str(draw(7, 300)) != str(draw(8, 300))


def test_seeds_reach_every_catalog_and_number_of_workers_and_tables():
    plans = [draw(seed, 60) for seed in range(40)]
    assert {plan.catalog for plan in plans} == set(CATALOGS)
    assert {len(plan.workers) for plan in plans} == {1, 2, 3}
    assert {plan.tables for plan in plans} == {1, 2}


def test_what_is_asked_for_takes_the_place_of_what_was_drawn_and_moves_nothing_else():
    drawn, asked = draw(7, 300), draw(7, 300, catalog="rest", workers=2)
    assert (asked.catalog, len(asked.workers)) == ("rest", 2)
    assert asked.of("kafka") == drawn.of("kafka") and asked.rate == drawn.rate


@pytest.mark.parametrize("seed", range(5))
def test_an_hour_does_everything_one_thing_of_an_actor_after_the_other_and_ends_calmly(seed):
    plan = draw(seed, 3600, spark=True, workers=3)
    actors = {event.actor for event in plan.events}
    assert actors == {"worker-0", "worker-1", "worker-2", "kafka", "catalog", "rewriter", "expirer", "spark", "producer", "oracle"}
    for actor in actors:
        free = CALM_S
        for event in plan.of(actor):
            assert event.at >= free - 0.1
            free = event.at + event.more.get("seconds", 0)
        assert free <= 3600 - CALM_S + 0.1
    assert {event.what for event in plan.of("worker-0")} == {"kill", "pause", "leave", "stop at once"}
