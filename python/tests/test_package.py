"""Reads a library created by the test `crates/plateau/tests/python.rs`, and compares it with the output of Plateau."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

import plateau

LIBRARY = Path(os.environ["PLATEAU_LIBRARY"])
EXPORT = Path(os.environ["PLATEAU_TEST_EXPORT"])
SHOWN = json.loads(os.environ["PLATEAU_TEST_SHOWN"])


class Package(unittest.TestCase):
    def test_a_run_is_read_with_its_chain(self) -> None:
        run = plateau.read_run(LIBRARY / SHOWN["run"])
        self.assertEqual(run.id, SHOWN["run"])
        self.assertEqual(run.digest, SHOWN["journal_sha256"])
        self.assertFalse(run.is_torn)
        self.assertGreater(len(list(run.of("measured"))), 5)
        self.assertEqual([found.id for found in plateau.runs(LIBRARY)], [run.id])

    def test_any_changed_byte_is_noticed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy"
            shutil.copytree(LIBRARY / SHOWN["run"], copy)
            journal = copy / "journal"
            good = journal.read_bytes()
            for at in range(0, len(good) - 1, max(1, len(good) // 50)):
                changed = bytearray(good)
                changed[at] ^= 1
                journal.write_bytes(changed)
                with self.assertRaises(plateau.Damaged, msg=str(at)):
                    plateau.read_run(copy)
            journal.write_bytes(good[:-5])
            self.assertTrue(plateau.read_run(copy).is_torn)
            journal.write_bytes(good)
            file = copy / "run.json"
            file.write_bytes(file.read_bytes() + b" ")
            with self.assertRaises(plateau.Damaged):
                plateau.read_run(copy)

    def test_labels_that_were_added_later_are_read(self) -> None:
        found = [(change.change, change.data["run"]) for change in plateau.read_annotations(LIBRARY)]
        self.assertEqual(found, [("tagged", SHOWN["run"]), ("noted", SHOWN["run"])])
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(plateau.read_annotations(folder), [])

    def test_the_index_has_the_figures_that_are_shown(self) -> None:
        # The index uses the same names as comparisons. They begin with the subject of the test.
        printed = {("Latency " + figure["name"], figure["value"]) for figure in SHOWN["tests"][0]["key_figures"]}
        with plateau.Index(LIBRARY) as index:
            rows = index.query("SELECT name, value, figure_key FROM figure WHERE key_figure = 1")
            self.assertLessEqual(printed, {(row["name"], row["value"]) for row in rows})
            figure = index.figures(rows[0]["figure_key"])
            self.assertEqual([row["value"] for row in figure], [rows[0]["value"]])
            with self.assertRaises(Exception):
                index.query("DELETE FROM run")

    def test_an_export_is_read_with_its_types(self) -> None:
        (run,) = plateau.read_export(EXPORT, "run")
        self.assertEqual(run["run"], SHOWN["run"])
        self.assertIsInstance(run["simulated"], str)
        cells = plateau.read_export(EXPORT, "cells")
        self.assertGreater(len(cells), 5)
        self.assertTrue(all(isinstance(cell["iops"], (int, float)) for cell in cells if cell["iops"] is not None))
        with self.assertRaises(FileNotFoundError):
            plateau.read_export(EXPORT, "nothing")

    def test_rows_become_a_data_frame(self) -> None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        with plateau.Index(LIBRARY) as index:
            table = plateau.frame(index.query("SELECT run_id, started_utc FROM run"))
        self.assertEqual(list(table["run_id"]), [SHOWN["run"]])
        self.assertEqual(str(table["started_utc"].dt.tz), "UTC")


if __name__ == "__main__":
    unittest.main()
