"""Shows every rule a small tree that breaks it and one that does not, so that no rule can pass by finding nothing."""

import os
import tempfile
import unittest
from pathlib import Path

import compile_commands
import kernel_symbols
import rules
from tree import Tree

HEADER = "// What this header is for.\n#pragma once\n"
TEST = "tests/policies/crop_test.cpp"

# rule -> (files that break it, files that do not, findings expected). Forbidden words are put together here so that
# this file itself keeps the rules.
EXAMPLES = {
    rules.folders_include_only_what_they_may: (
        {"policies/crop.cpp": '#include "sim/stack.hpp"\n', "workloads/reader.cpp": '#include <reports/result.hpp>\n',
         "sim/replay.cpp": '#include "cli/main.hpp"\n', "reports/csv.cpp": '#  include "../sim/replay.hpp"\n'},
        {"policies/crop.cpp": '#include "policies/crop.hpp"\n#include <vector>\n',
         "tests/a.cpp": '#include "sim/a.hpp"\n', "sim/replay.cpp": '#include "reports/result.hpp"\n',
         "workloads/w.cpp": '#include <yaml-cpp/yaml.h>\n'},
        ["policies/crop.cpp:1", "reports/csv.cpp:1", "sim/replay.cpp:1", "workloads/reader.cpp:1"]),
    rules.includes_start_at_the_root: (
        {"sim/a.hpp": HEADER, "sim/a.cpp": '#include "a.hpp"\n#include <sim/a.hpp>\n'},
        {"sim/a.hpp": HEADER, "sim/a.cpp": '#include "sim/a.hpp"\n#include <vector>\n'},
        ["sim/a.cpp:1", "sim/a.cpp:2"]),
    rules.headers_open_with_their_purpose: (
        {"sim/a.hpp": "#pragma once\n// Too late to say it here.\n",
         "sim/b.hpp": "// Says what it is for.\nint b();\n"},
        {"sim/a.hpp": HEADER, "sim/a.cpp": "int a;\n"},
        ["sim/a.hpp:1", "sim/a.hpp:1", "sim/b.hpp:1"]),
    rules.files_stay_short: (
        {"sim/long.cpp": "int x;\n" * 301, "scripts/long.sh": ":\n" * 301},
        {"sim/short.cpp": "int x;\n" * 300, "docs/long.md": "words\n" * 900},
        ["scripts/long.sh:301", "sim/long.cpp:301"]),
    rules.nothing_points_outside: (
        {"sim/a.cpp": 'open("/' + 'work/data");\n', "docs/a.md": "see .." + "/shared/spec\n",
         "scripts/a.sh": "curl https://deb." + "debian.org/x\n", ".hidden/a": "/ro" + "ot/x\n"},
        {"sim/a.cpp": "// workloads/recorded, /proc/self/exe\n", "docs/a.md": "https://github.com/a/b, build/work/x\n"},
        [".hidden/a:1", "docs/a.md:1", "scripts/a.sh:1", "sim/a.cpp:1"]),
    rules.nothing_is_left_for_later: (
        {"sim/a.cpp": "// TO" + "DO: more\n", "docs/a.md": "This is not " + "implemented.\n",
         TEST: 'TEST_CASE("x", "[' + '.]") {}\nTEST_CASE("y", "[!may' + 'fail]") {}\n'},
        {"sim/a.cpp": "// the method a todolist has\n", TEST: 'TEST_CASE("x", "[crop]") { CHECK(v[0] == 1); }\n'},
        ["docs/a.md:1", "sim/a.cpp:1", TEST + ":1", TEST + ":2"]),
    rules.sim_takes_exponentials_from_eigen: (
        {"sim/a.cpp": "x = std::tanh(y);\nx = expf(y);\n"},
        {"sim/a.cpp": "x = y.array().tanh();  // not std::tanh(y)\nz = x.exp();\nw = row_exp(x);\n",
         "reports/a.cpp": "x = std::exp(y);\n"},
        ["sim/a.cpp:1", "sim/a.cpp:2"]),
    rules.links_in_pages_lead_somewhere: (
        {"docs/a.md": "[b](b.md) and [c](../c.md#part)\n"},
        {"docs/a.md": "[b](b.md#part) [c](https://example.org/c) [d](#here)\n", "docs/b.md": "b\n"},
        ["docs/a.md:1", "docs/a.md:1"]),
    rules.scripts_can_be_started: (
        {"scripts/a.sh": "#!/bin/sh\n"}, {"scripts/a.txt": "a #! later\n"}, ["scripts/a.sh:1"]),
    rules.every_policy_has_its_source_test_and_page: (
        {"policies/registry.cpp": '{{"crop", "concatenates", options_of()},\n{{"crop-2+x",\n"o" "ther", {}},\n',
         "policies/crop.cpp": "// other: x\n", TEST: "crop-2+x, croppy\n", "docs/crop.md": "`crop`\n"},
        {"policies/registry.cpp": '{{"crop", "concatenates",\noptions_of({{"n", "1", {}, "m"}})},\n',
         "policies/crop.cpp": "// crop: concatenates\n", TEST: 'policy("crop:keep=seed")\n',
         "docs/crop.md": "`crop`\n"},
        ["policies/registry.cpp:1"] * 4),
}

SOUND = ("sim/a.cpp", "c++ -O3 -march=x86-64-v3 -DEIGEN_DONT_PARALLELIZE -Wno-fast -c a.cpp")
COMMAND_EXAMPLES = {
    compile_commands.floating_point_stays_ieee: [
        ("sim/b.cpp", "c++ -O3 -ffast-math -c b.cpp"),
        ("sim/c.cpp", "c++ -Ofast -c c.cpp")],
    compile_commands.one_layout_of_eigen_types: [
        SOUND, SOUND,
        ("sim/kernels/instruction_set.cpp", "c++ -O3 -march=x86-64-v4 -DEIGEN_DONT_PARALLELIZE -c b.cpp"),
        ("sim/b.cpp", "c++ -O3 -march=native -DEIGEN_DONT_PARALLELIZE -c b.cpp"),
        ("sim/c.cpp", "c++ -O3 -march=x86-64-v3 -c c.cpp")],
}


def findings(rule, files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            os.chmod(path, 0o644)
        return rule(Tree(root))


class EveryRule(unittest.TestCase):
    def test_has_an_example(self):
        self.assertEqual(set(EXAMPLES), set(rules.RULES))
        self.assertEqual(set(COMMAND_EXAMPLES), set(compile_commands.COMMAND_RULES))

    def test_is_run_by_ctest(self):
        registered = Path(__file__).with_name("CMakeLists.txt").read_text().split()
        for rule in rules.RULES + compile_commands.COMMAND_RULES:
            self.assertIn(rule.__name__, [word.strip("()") for word in registered])

    def test_finds_what_breaks_it_and_nothing_else(self):
        for rule, (broken, sound, expected) in EXAMPLES.items():
            with self.subTest(rule.__name__):
                found = findings(rule, broken)
                self.assertEqual(sorted(":".join(f.split(":")[:2]) for f in found), expected)
                self.assertEqual(findings(rule, sound), [])

    def test_over_compile_commands_finds_each_flag(self):
        for rule, broken in COMMAND_EXAMPLES.items():
            with self.subTest(rule.__name__):
                self.assertEqual(sorted(f.split(":")[0] for f in rule(broken)), ["sim/b.cpp", "sim/c.cpp"])
                self.assertEqual(rule([SOUND, SOUND]), [])

    def test_over_compile_commands_sees_our_files_only(self):
        entries = [{"directory": "/src/build", "file": "/src/sim/a.cpp", "command": "c++ a"},
                   {"directory": "/src/build", "file": "../cli/b.cpp", "arguments": ["c++", "b"]},
                   {"directory": "/src/build", "file": "/src/build/_deps/x/c.cpp", "command": "c++ c"},
                   {"directory": "/src/build", "file": "/usr/d.cpp", "command": "c++ d"}]
        self.assertEqual(list(compile_commands.own_commands(entries, "/src")),
                         [("sim/a.cpp", "c++ a"), ("cli/b.cpp", "c++ b")])

    def test_of_kernels_finds_symbols_that_others_may_define(self):
        listing = ("0000000000000010 T kvreplay::sim::avx2::kernels()\n"
                   "0000000000000020 W Eigen::internal::aligned_malloc(unsigned long)\n")
        self.assertEqual(kernel_symbols.shared_symbols("avx2", listing),
                         ["Eigen::internal::aligned_malloc(unsigned long)"])
        self.assertEqual(len(kernel_symbols.shared_symbols("avx512", listing)), 2)


if __name__ == "__main__":
    unittest.main()
