"""Tests of my_policy.py: python3 -m unittest"""
import unittest

from tfexp_policy import decisions

from my_policy import Mine

SHORT = {"job": "short", "cores": 2, "requested_time": 1, "arrival": 9}
LONG = {"job": "long", "cores": 2, "requested_time": 60, "arrival": 8}


def started(waiting, **more):
    return [d["start"] for d in decisions(Mine, waiting, cores=2, settings={"patience": "10s"}, **more)]


class MineTest(unittest.TestCase):
    def test_the_shortest_is_first(self):
        self.assertEqual(started([LONG, SHORT], now=10), ["short"])

    def test_who_has_waited_for_long_is_next(self):
        self.assertEqual(started([LONG, SHORT], now=18.5), ["long"])

    def test_nothing_starts_without_room(self):
        self.assertEqual(started([SHORT], running=[{"job": "other", "cores": 1}], now=10), [])


if __name__ == "__main__":
    unittest.main()
