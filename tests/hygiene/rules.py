"""The rules of this repository that a machine can check. Each takes a Tree and returns findings, `path:line: problem`.

RULES names them; tests/CMakeLists.txt runs each as a test of its own; test_rules.py shows each one what it must find.
"""

import posixpath
import re

from tree import FOLDERS

CPP = (".cpp", ".hpp")
CODE = (".cpp", ".hpp", ".py", ".sh", ".cmake", "CMakeLists.txt", ".ci/run")
LONGEST_FILE = 300

# What a folder may include of ours; the leaves stand alone, and nothing that ships depends on tests or benches.
MAY_INCLUDE = {
    "policies": {"policies"},
    "workloads": {"workloads"},
    "reports": {"reports"},
    "sim": {"sim", "policies", "workloads", "reports"},
    "cli": {"cli", "sim", "policies", "workloads", "reports"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')


def folders_include_only_what_they_may(tree):
    findings = []
    for name, number, line in tree.lines(*CPP):
        folder = name.split("/")[0]
        included = INCLUDE.match(line)
        if folder not in MAY_INCLUDE or not included:
            continue
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), included[2])) \
            if included[2].startswith(".") else included[2]
        other = target.split("/")[0]
        if "/" in target and other in FOLDERS and other not in MAY_INCLUDE[folder]:
            findings.append(f"{name}:{number}: {folder}/ must not include {other}/")
    return findings


def includes_start_at_the_root(tree):
    findings = []
    for name, number, line in tree.lines(*CPP):
        included = INCLUDE.match(line)
        if included and included[1] == '"' and included[2] not in tree.texts:
            findings.append(f'{name}:{number}: "{included[2]}" is no file seen from the root')
        elif included and included[1] == "<" and included[2] in tree.texts:
            findings.append(f"{name}:{number}: <{included[2]}> is ours and wants quotes")
    return findings


def headers_open_with_their_purpose(tree):
    findings = []
    for name, text in tree.texts.items():
        if not name.endswith(".hpp"):
            continue
        if not re.match(r"//\s*\S+\s+\S+\s+\S+", text):
            findings.append(f"{name}:1: opens without a sentence on what it is for")
        if "\n#pragma once\n" not in text:
            findings.append(f"{name}:1: lacks #pragma once")
    return findings


def files_stay_short(tree):
    lengths = ((name, text.count("\n")) for name, text in tree.texts.items() if name.endswith(CODE))
    return [f"{name}:{length}: over {LONGEST_FILE} lines" for name, length in lengths if length > LONGEST_FILE]


# Brackets keep these patterns from matching themselves.
OUTSIDE = re.compile(r"(^|[^.a-z])/(w[o]rk|f[a]rm|r[o]ot|h[o]me)/|\.\.[/]shared")
PACKAGE_HOST = re.compile(r"https?://[^/\s]*(debian|ubuntu|pypi|pythonhosted|npm|crates|golang)[^/\s]*")


def nothing_points_outside(tree):
    findings = []
    for name, number, line in tree.lines(""):
        if name.endswith(".jsonl"):
            continue
        if OUTSIDE.search(line):
            findings.append(f"{name}:{number}: a path outside the repository")
        if PACKAGE_HOST.search(line):
            findings.append(f"{name}:{number}: a package registry's host")
    return findings


LATER = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X|H[A]CK|not[ ]implemented|s[t]ub|p[l]aceholder)\b", re.IGNORECASE)
SWITCHED_OFF = re.compile(r"\[!(mayfail|shouldfail)\]|\[\.[\w]*\]|GTEST[_]SKIP|DISABLED[_]|SUCCEED\s*\(|\bSKIP\s*\(")


def nothing_is_left_for_later(tree):
    findings = [f"{name}:{number}: left for later" for name, number, line in
                tree.lines(".cpp", ".hpp", ".py", ".sh", ".cmake", ".md", "CMakeLists.txt", ".ci/run")
                if LATER.search(line)]
    return findings + [f"{name}:{number}: a test switched off" for name, number, line in
                       tree.lines(*CPP, under="tests/") if SWITCHED_OFF.search(line)]


# The standard ones cost a hundred times Eigen's vectorised ones, and exp forms of tanh overflow.
SLOW_EXPONENTIAL = re.compile(r"(?<![.\w>:])(?:std::)?(?:tanh|exp)f?\s*\(")


def sim_takes_exponentials_from_eigen(tree):
    return [f"{name}:{number}: tanh or exp of the standard library" for name, number, line in
            tree.lines(*CPP, under="sim/") if SLOW_EXPONENTIAL.search(line.split("//")[0])]


LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")


def links_in_pages_lead_somewhere(tree):
    findings = []
    for name, number, line in tree.lines(".md"):
        for link in LINK.finditer(line):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link[1]))
            if not (tree.root / target).exists():
                findings.append(f"{name}:{number}: no file {target}")
    return findings


def scripts_can_be_started(tree):
    return [f"{name}:1: has an interpreter line but is not executable" for name, text in tree.texts.items()
            if text.startswith("#!") and not tree.is_executable(name)]


# {{"name", "summary", options_of(...) or {}, ...; an option of a policy has one text more behind its {}.
POLICY_ROW = re.compile(r'\{\{"([^"]+)",\s*(?:"[^"]*"\s*)+,\s*(?:options_of\b|\{\}(?!\s*,\s*"))')


def every_policy_has_its_source_test_and_page(tree):
    registry = "policies/registry.cpp"
    names = POLICY_ROW.findall(tree.texts.get(registry, ""))
    findings = [] if names else [f"{registry}:1: no row of the policy table found"]
    for name in names:
        word = re.compile(r"(?<![\w.+-])" + re.escape(name) + r"(?![\w+-])")
        wanted = {
            f"a source in policies/ that opens with '// {name}: '": lambda path, text, opening=f"// {name}: ":
                path.startswith("policies/") and path.endswith(".cpp") and text.startswith(opening),
            "a test in tests/policies/": lambda path, text, word=word:
                path.startswith("tests/policies/") and path.endswith("_test.cpp") and word.search(text),
            "a mention in docs/": lambda path, text, word=word: path.startswith("docs/") and word.search(text),
        }
        findings += [f"{registry}:1: policy {name} lacks {what}" for what, found in wanted.items()
                     if not any(found(path, text) for path, text in tree.texts.items())]
    return findings


RULES = [
    folders_include_only_what_they_may,
    includes_start_at_the_root,
    headers_open_with_their_purpose,
    files_stay_short,
    nothing_points_outside,
    nothing_is_left_for_later,
    sim_takes_exponentials_from_eigen,
    links_in_pages_lead_somewhere,
    scripts_can_be_started,
    every_policy_has_its_source_test_and_page,
]
