#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests .ci/check.py: which steps a change can affect, and what the report says. Runs no step."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / ".ci"))
import check  # noqa: E402

REPORT = """<testsuite><testcase name="net.Seal" time="0.5"><system-out>[ RUN      ] Seal.Opens
[       OK ] Seal.Opens (120 ms)
[ RUN      ] Seal.Fails
[  SKIPPED ] Seal.Fails (3 ms)
[  SKIPPED ] Seal.Fails
</system-out></testcase><testcase name="golden.O0" time="7.25"><system-out/></testcase></testsuite>"""


class AffectedSteps(unittest.TestCase):
    def names(self, *paths):
        return list(check.commands_for(paths))

    def test_documents_affect_formats_and_links(self):
        self.assertEqual(self.names("README.md", "docs/TUNING.md"), ["format", "docs"])
        self.assertEqual(check.commands_for(["README.md"])["docs"], ["docs", "--links"])

    def test_one_binding_affects_itself(self):
        self.assertEqual(check.commands_for(["bindings/lua/test.lua"]), {"bindings": ["bindings", "lua"]})
        both = check.commands_for(["bindings/lua/test.lua", "bindings/python/tests/test_client.py"])
        self.assertEqual(both, {"bindings": ["bindings", "lua", "python"]})

    def test_a_whole_step_contains_its_parts(self):
        self.assertEqual(check.commands_for(["bindings/lua/test.lua", "capi/include/reckoner.h"])["bindings"], ["bindings"])

    def test_a_library_affects_all_that_links_it(self):
        for library in ("reckoning", "net", "server", "client"):
            steps = self.names(f"{library}/src/any.cpp")
            for step in ("lint", "package", "bindings", "wasm", "threads", "sanitize", "test"):
                self.assertIn(step, steps, library)
        self.assertIn("golden", self.names("reckoning/src/any.cpp"))
        self.assertIn("golden", self.names("net/src/any.cpp"))

    def test_an_unknown_file_affects_everything(self):
        for path in ("dev", ".ci/run", "CMakeLists.txt", "cmake/any.cmake", "new_folder/any.cpp"):
            self.assertEqual(self.names(path), list(check.STEPS), path)

    def test_rules_name_existing_steps_and_folders(self):
        for pattern, steps in check.AFFECTS:
            for step in steps:
                self.assertIn(step.split()[0], check.STEPS, pattern)
            self.assertTrue(pattern.startswith("*") or any(ROOT.glob(pattern)) or (ROOT / pattern).exists(), pattern)

    def test_every_folder_has_a_rule(self):
        patterns = [pattern.split("/")[0] for pattern, _ in check.AFFECTS]
        for folder in ("reckoning", "net", "server", "client", "cluster", "web", "capi", "scenario", "programs",
                       "harness", "playground", "bench", "examples", "bindings", "docs", "deploy", "tests"):
            self.assertIn(folder, patterns)

    def test_the_tests_are_last(self):
        self.assertEqual(list(check.STEPS)[-1], "test")


class Costs(unittest.TestCase):
    def test_every_step_has_a_budget(self):
        self.assertEqual(list(check.budgets()), list(check.STEPS))
        self.assertLessEqual(sum(check.budgets().values()), 40.0)

    def test_a_step_above_its_budget_is_named(self):
        seconds = 60.0 * check.budgets()["lint"]
        self.assertEqual(check.over_budget("lint", check.Times(total=seconds - 1.0)), "")
        self.assertIn("LINT IS ABOVE ITS BUDGET", check.over_budget("lint", check.Times(total=seconds + 1.0)))
        self.assertIn("LINT IS ABOVE", check.table({"lint": check.Times(total=seconds + 1.0)}))

    def test_seconds_that_are_not_installing_or_compiling_are_running(self):
        self.assertAlmostEqual(check.Times(installing=2.0, compiling=3.0, total=10.0).running, 5.0)

    def test_cases_are_counted_inside_suites(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "build/any").mkdir(parents=True)
            (pathlib.Path(folder) / "build/any/tests.xml").write_text(REPORT)
            root, check.ROOT = check.ROOT, pathlib.Path(folder)
            try:
                cases = check.test_cases("any")
            finally:
                check.ROOT = root
        self.assertEqual(cases, [(0.12, "net: Seal.Opens", "OK"), (0.003, "net: Seal.Fails", "SKIPPED"), (7.25, "golden.O0", "OK")])


if __name__ == "__main__":
    unittest.main()
