#!/usr/bin/env python3
"""Freeze a set: write manifest.json and SHA256SUMS of its files, or verify them.

    $ python freeze.py --frozen-at 2026-11-01T00:00:00+00:00 --ranker ../capability_search.py
    froze task-queries 1.0.0: 12 files, manifest 5b0c...3e
    $ python freeze.py --verify
    as frozen: task-queries 1.0.0, 12 files
    $ sha256sum -c SHA256SUMS                    the same check, without this project
    $ python freeze.py --verify                  after an editor changed the line endings
    differs: queries.json: with LF line endings it would be as frozen
    error: 1 file is not as frozen

The status of a draft becomes "frozen" in queries.json. Frozen are queries.json and protocol.json,
and protocol.md, judgment-template.json and schemas/*.schema.json where they are there. The manifest
names the ranker of that moment: a later ranker has another digest, and that is no fault.
RANKER_VERSION is read from its text; it is not run.

A frozen version is never edited: a manifest that is there is not written over. Once a ranker has
been adjusted with the help of the set, the set is development data. Say so, and freeze a new one:

    $ python freeze.py --retire development --reason "Ranking weights were chosen on it."
    task-queries 1.0.0 is development from now on
    $ python freeze.py --set ../next --frozen-at 2027-02-01T00:00:00Z --supersedes manifest.json

Exit status: 0 done, or as frozen; 1 --verify found a difference; 2 bad input or usage, and then
nothing is written; 130 interrupted.
"""

import ast
import os
import re
import sys

from kit import (
    HERE, VERSION, KitError, Parser, complain, emit, encoded, faults_of, help_formatter, in_file,
    instant, parse_json, query_faults, read_bytes, read_file, reason, sha256, shown, visible,
    write_file)

NEEDED = ("queries.json", "protocol.json")
WELCOME = ("protocol.md", "judgment-template.json")
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
DRAFT = re.compile(rb'("status"\s*:\s*")draft(")')


################ The files of a set

def names_of(folder):
    """Return the names of the files of a set that are there, in order; raise KitError."""
    try:
        present = [name for name in (*NEEDED, *WELCOME) if os.path.isfile(
            os.path.join(folder, name))]
        schemas = os.path.join(folder, "schemas")
        if os.path.isdir(schemas):
            present += [f"schemas/{name}" for name in os.listdir(schemas)
                        if name.endswith(".schema.json")]
    except OSError as error:
        raise KitError(in_file(folder, [f"cannot be read: {reason(error)}"])) from None
    return sorted(present)


def bytes_of(folder, name):
    """Return the bytes of a file of a set; raise KitError."""
    return read_bytes(os.path.join(folder, *name.split("/")))


def entry_of(name, data):
    """Return what a manifest holds of a file."""
    return {"path": name, "bytes": len(data), "sha256": sha256(data)}


def sums_of(manifest, data):
    """Return the lines of sha256sum for a manifest's files and for the manifest itself."""
    return "".join(f"{digest}  {name}\n" for name, digest in (
        *((entry["path"], entry["sha256"]) for entry in manifest["files"]),
        (MANIFEST, sha256(data)))).encode()


def ranker_of(path):
    """Return {path, version, sha256} of a ranker's file, or None without one; raise KitError."""
    if path is None:
        return None
    data = read_bytes(path)
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        raise KitError(in_file(path, ["is no Python"])) from None
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and any(
                isinstance(target, ast.Name) and target.id == "RANKER_VERSION"
                for target in node.targets):
            if isinstance(node.value.value, str) and node.value.value:
                return {"path": os.path.basename(path), "version": node.value.value,
                        "sha256": sha256(data)}
    raise KitError(in_file(path, ["RANKER_VERSION: must be text, assigned at the top level"]))


################ Freeze, retire, verify

def freeze(options):
    """Return what a run says after it wrote manifest and sums; raise KitError."""
    folder, path = options.set, os.path.join(options.set, MANIFEST)
    if os.path.exists(path):
        raise KitError(in_file(path, ["is there already; a frozen version is never edited. Freeze "
                                      "a new version in a folder of its own"]))
    queries_path = os.path.join(folder, "queries.json")
    queries, content = read_file(queries_path, "queries")
    read_file(os.path.join(folder, "protocol.json"), "protocol")
    faults = query_faults(queries)
    frozen = DRAFT.sub(rb"\1frozen\2", content) if queries["status"] == "draft" else content
    if len(DRAFT.findall(content)) > 1 or parse_json(frozen)["status"] != "frozen":
        faults.append("status: set it to \"frozen\" by hand; it is "
                      f"{shown(queries['status'])} now")
    if faults:
        raise KitError(in_file(queries_path, faults))
    before, superseded = None, None
    if options.supersedes is not None:
        before, data = read_file(options.supersedes, "manifest")
        superseded = {"set_id": before["set_id"], "version": before["version"],
                      "manifest_sha256": sha256(data)}
    manifest = {
        "schema": "manifest/1", "set_id": queries["set_id"], "version": queries["version"],
        **({"invented": queries["invented"]} if "invented" in queries else {}),
        "status": "frozen", "frozen_at": options.frozen_at,
        "files": [entry_of(name, frozen if name == "queries.json" else bytes_of(folder, name))
                  for name in names_of(folder)],
        "ranker": ranker_of(options.ranker), "supersedes": superseded,
        "time_anchor": options.time_anchor}
    if frozen != content:
        write_file(queries_path, frozen)
    return written(folder, manifest, f"froze {visible(manifest['set_id'])} "
                   f"{visible(manifest['version'])}: {len(manifest['files'])} files, manifest ")


def written(folder, manifest, said):
    """Write a manifest and its sums; return what is said, with the manifest's digest at its end."""
    path, data = os.path.join(folder, MANIFEST), encoded(manifest)
    faults = faults_of(manifest, "manifest")
    if faults:
        raise KitError(in_file(path, faults))
    write_file(path, data)
    write_file(os.path.join(folder, SUMS), sums_of(manifest, data))
    return f"{said}{sha256(data)}\n"


def retire(options):
    """Return what a run says after it wrote another status into the manifest; raise KitError."""
    path = os.path.join(options.set, MANIFEST)
    manifest = read_file(path, "manifest")[0]
    if manifest["status"] != "frozen":
        raise KitError(in_file(path, [f"status: is {shown(manifest['status'])} already"]))
    manifest["status"] = options.retire
    place = list(manifest).index("status") + 1
    items = list(manifest.items())
    manifest = dict([*items[:place], ("reason", options.reason), *items[place:]])
    written(options.set, manifest, "")
    return (f"{visible(manifest['set_id'])} {visible(manifest['version'])} is {options.retire} "
            "from now on\n")


def differences(folder):
    """Return (manifest, lines) of a set's files and what its manifest and sums say of them."""
    manifest, data = read_file(os.path.join(folder, MANIFEST), "manifest")
    listed, present, lines = [entry["path"] for entry in manifest["files"]], names_of(folder), []
    for entry in manifest["files"]:
        name = entry["path"]
        if name not in present:
            lines.append(f"missing: {name}")
            continue
        found = bytes_of(folder, name)
        if entry_of(name, found) != entry:
            plain = found.replace(b"\r\n", b"\n")
            hint = ": with LF line endings it would be as frozen" if (
                plain != found and entry_of(name, plain) == entry) else ""
            lines.append(f"differs: {name}{hint}")
    lines += [f"added: {name}" for name in present if name not in listed]
    try:
        sums = bytes_of(folder, SUMS)
    except KitError:
        lines.append(f"missing: {SUMS}")
    else:
        if sums != sums_of(manifest, data):
            lines.append(f"differs: {SUMS}: is not that of the manifest")
    return manifest, lines


def verify(options):
    """Return (what goes to standard output, faults) of the files against the manifest."""
    manifest, lines = differences(options.set)
    if lines:
        return "".join(f"{visible(line)}\n" for line in lines), [
            f"{len(lines)} file{'s are' if len(lines) > 1 else ' is'} not as frozen"]
    return (f"as frozen: {visible(manifest['set_id'])} {visible(manifest['version'])}, "
            f"{len(manifest['files'])} files\n"), []


################ Command

def parse(argv):
    """Return (options, help text) of a command line; raise KitError."""
    parser = Parser(prog="freeze.py", description=__doc__, allow_abbrev=False, add_help=False,
                    formatter_class=help_formatter)
    add = parser.add_argument
    add("--set", metavar="FOLDER", default=HERE, help="the set (default: this folder)")
    add("--frozen-at", metavar="TIME", help="when it is frozen, ISO 8601 with an offset")
    add("--ranker", metavar="FILE", help="the ranker of that moment")
    add("--supersedes", metavar="MANIFEST", help="the manifest of the version before")
    add("--time-anchor", metavar="TEXT", help="where the manifest's digest was published, and when")
    add("--retire", choices=("development", "superseded"), help="end a frozen version")
    add("--reason", metavar="TEXT", help="why, with --retire")
    add("--verify", action="store_true", help="compare the files with the manifest")
    add("--version", action="store_true", help="print the version")
    add("-h", "--help", action="store_true", help="print this manual")
    options = parser.parse_args(argv)
    if options.help or options.version:
        return options, parser.format_help() if options.help else f"freeze.py {VERSION}\n"
    if any("\0" in value for value in vars(options).values() if isinstance(value, str)):
        parser.error("a value holds a NUL character")
    given = [name for name in ("frozen_at", "ranker", "supersedes", "time_anchor", "retire",
                               "reason") if getattr(options, name) is not None]
    if options.verify and given:
        parser.error(f"--verify does not go with --{given[0].replace('_', '-')}")
    if (options.retire is None) != (options.reason is None) or options.retire and len(given) > 2:
        parser.error("--retire and --reason go together, and with nothing else")
    if not options.verify and options.retire is None and instant(options.frozen_at) is None:
        parser.error("--frozen-at is needed, a time with an offset such as "
                     f"2026-11-01T00:00:00+00:00, not {shown(options.frozen_at)}")
    return options, ""


def main(argv=None):
    """Run the command with these arguments; return its exit status, as the manual lists them."""
    try:
        options, manual = parse(argv)
        faults = []
        if options.verify and not manual:
            manual, faults = verify(options)
        emit(manual or (retire(options) if options.retire else freeze(options)))
        complain(f"error: {fault}" for fault in faults)
        return int(bool(faults))
    except KitError as error:
        complain(f"error: {fault}" for fault in error.faults)
        return 2
    except KeyboardInterrupt:
        complain(["interrupted"])
        return 130


if __name__ == "__main__":
    sys.exit(main())
