"""What the scripts of the kit share: strict JSON, digests, schemas, safe writing, errors.

The folder works alone, so this repeats a few small helpers of the benchmark above it. Nothing here
is a command.

The shape of every file is stated once, in schemas/*.schema.json. faults_of reads those schemas: it
knows the keywords of JSON Schema 2020-12 that they use, and refuses a schema with another.
"""

import argparse
import gc
import hashlib
import io
import json
import math
import os
import re
import sys
from collections import namedtuple
from contextlib import contextmanager
from datetime import datetime
from ipaddress import ip_address
from json.encoder import encode_basestring
from urllib.parse import urlsplit

VERSION = "1.0.0"
HERE = os.path.dirname(os.path.abspath(__file__))
FEW = 3                 # how many offenders one message names
MOST_FAULTS = 50        # lines about one file
WIDTH = 80              # of a manual
MAX_DEPTH = 64          # JSON nesting
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
MAX_BYTES = 1 << 28     # per input file, so that a device cannot fill the memory
MOST_PARTS = 1 << 14    # of a JSON text before they are joined


class KitError(ValueError):
    """Bad input. The message has one line per fault; `faults` holds the same lines."""

    def __init__(self, faults):
        self.faults = faults.splitlines() if isinstance(faults, str) else list(faults)
        super().__init__("\n".join(self.faults))


################ Text that is safe to show

def visible(text, width=None):
    """Return text with control and direction characters escaped, cut to a width in columns."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(visible_character(character) for character in text)
    if width is None or columns_of(text) <= width:
        return text
    while columns_of(text) > width - 3:
        text = text[:-1]
    return text + "..."


def visible_character(character):
    """Return a character, or its escape where it would not be seen or would move others."""
    if character.isprintable() or character in "\u200c\u200d":      # joiners spell some words
        return character
    return character.encode("unicode_escape").decode("ascii") if character != " " else " "


def columns_of(text):
    """Return how many terminal columns text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width
    return sum(2 if east_asian_width(character) in "WF" else 0 if combining(character) else 1
               for character in text)


def shown(value):
    """Return a short, printable form of any value for a message."""
    try:
        return visible(repr(value), 60)
    except Exception:       # an enormous integer
        return f"a value of type {type(value).__name__}"


def few(values):
    """Return the first few values as text, with the number of the others."""
    values = list(values)
    more = f" and {len(values) - FEW} more" if len(values) > FEW else ""
    return ", ".join(shown(value) for value in values[:FEW]) + more


def repeated(values):
    """Return the values that occur more than once, each once, in order of their second sight."""
    seen, again = set(), {}
    for value in values:
        if value in seen:
            again[value] = None
        seen.add(value)
    return list(again)


################ Strict JSON

def in_file(path, faults):
    """Return faults with the file's name before each."""
    return [f"{visible(os.fspath(path)) or repr('')}: {what}" for what in faults]


def reason(error):
    """Return what an OSError says, in the system's words."""
    return error.strerror or type(error).__name__


def read_bytes(path):
    """Return the bytes of a file, read once; raise KitError."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise KitError(in_file(path, [f"cannot be read: {reason(error)}"])) from None
    if len(data) > MAX_BYTES:
        raise KitError(in_file(path, [f"has more than {MAX_BYTES} bytes"]))
    return data


def sha256(data):
    """Return the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@contextmanager
def uncollected():
    """Give a time without garbage collection: large files have millions of objects, no cycles."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def unique_keys(pairs):
    """Return the object of key and value pairs; a repeated key raises."""
    value = dict(pairs)
    if len(value) != len(pairs):
        again = repeated(key for key, item in pairs)
        raise KitError(f"key {few(again)}: occurs twice in one object")
    return value


def no_constant(name):
    """Raise for NaN and Infinity, which JSON does not have."""
    raise KitError(f"{name}: is not a JSON number")


def finite(text):
    """Return a JSON number with a fraction or an exponent; one too large for a float raises."""
    value = float(text)
    if math.isinf(value):
        raise KitError(f"{visible(text, 40)}: is too large a number")
    return value


def bounded(text):
    """Return a JSON integer; one that does not fit 64 bits raises."""
    if len(text) > 20 or abs(int(text)) >= 1 << 63:
        raise KitError(f"{visible(text, 40)}: is too large an integer")
    return int(text)


def too_deep(value):
    """Return whether value nests objects and lists deeper than MAX_DEPTH."""
    level = [value] if type(value) in (dict, list) else []
    for depth in range(MAX_DEPTH + 1):
        level = [child for parent in level
                 for child in (parent.values() if type(parent) is dict else parent)
                 if type(child) in (dict, list)]
        if not level:
            return False
    return True


def parse_json(data):
    """Return the value of strict JSON bytes; raise KitError without the file's name."""
    value = parse_any_depth(data)
    require_shallow(value)
    return value


def require_shallow(value):
    """Raise KitError for a value that nests too deeply."""
    if too_deep(value):
        raise KitError(TOO_DEEP)


def parse_any_depth(data):
    """Return what parse_json returns, however deep it nests, as long as Python can read it."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise KitError("line 1: starts with a byte order mark; save it as plain UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise KitError(f"line {line}: byte {error.start + 1} is not UTF-8") from None
    if not text.strip(" \t\r\n"):
        raise KitError("is empty; JSON was expected")
    try:
        with uncollected():
            value = json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_constant,
                               parse_float=finite, parse_int=bounded)
        if "\\" in text and "\\u" in text:     # to look for one character is much faster
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise KitError(f"line {error.lineno} column {error.colno}: not JSON: {error.msg}"
                       ) from None
    except UnicodeEncodeError:
        raise KitError("holds half of a surrogate pair, which is no character") from None
    except RecursionError:
        raise KitError(TOO_DEEP) from None
    return value


def read_json(path):
    """Return (value, bytes) of a strict JSON file; raise KitError with its name."""
    data = read_bytes(path)
    try:
        return parse_json(data), data
    except KitError as error:
        raise KitError(in_file(path, error.faults)) from None


def instant(text):
    """Return the aware datetime of ISO 8601 text with an offset, or None."""
    pattern = (r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*"
               r"(Z|[+-]\d\d:\d\d)")
    match = re.fullmatch(pattern, text, re.ASCII) if type(text) is str else None
    if not match:
        return None
    moment, fraction, offset = match.groups()
    if len(moment) == 16:
        moment += ":00"
    try:
        # Python 3.10 takes three or six digits of a second and no Z.
        return datetime.fromisoformat(moment + (fraction or ".0").ljust(7, "0")
                                      + offset.replace("Z", "+00:00"))
    except ValueError:
        return None


def encoded(value):
    """Return a value as JSON: UTF-8, LF, two-space indent, one newline at the end.

    These are the bytes of json.dumps with ensure_ascii=False, allow_nan=False and indent=2, which
    takes ten times as long and minutes for a large pool.
    """
    file = io.BytesIO()
    write_json(value, file)
    return file.getvalue()


def write_json(value, file):
    """None; writes the bytes of encoded(value) into a binary file, a part after the other."""
    parts = []
    add_json(value, "\n", parts, file)
    file.write("".join(parts).encode() + b"\n")


def add_json(value, newline, parts, file):
    """Add the parts of a value's JSON; newline: a line feed and the indent here.

    When there are many, they go into the file as bytes: as single texts they take four times as
    much memory.
    """
    add, kind = parts.append, type(value)
    if kind is str:
        add(encode_basestring(value))
    elif kind is dict and value:
        inner = mark = newline + "  "
        add("{")
        for key, item in value.items():
            if type(item) is str:       # as most are
                add(f"{mark}{encode_basestring(key)}: {encode_basestring(item)}")
            else:
                add(f"{mark}{encode_basestring(key)}: ")
                add_json(item, inner, parts, file)
            mark = "," + inner
        add(newline + "}")
    elif kind in (list, tuple) and value:
        inner = mark = newline + "  "
        add("[")
        for item in value:
            add(mark)
            add_json(item, inner, parts, file)
            mark = "," + inner
            if len(parts) > MOST_PARTS:
                file.write("".join(parts).encode())
                parts.clear()
        add(newline + "]")
    else:
        add(json.dumps(value, ensure_ascii=False, allow_nan=False))


################ Schemas

TYPES = {"object": (dict, "an object"), "array": (list, "a list"), "string": (str, "text"),
         "integer": (int, "a whole number"), "number": ((int, float), "a number"),
         "boolean": (bool, "true or false"), "null": (type(None), "null")}
# What a schema may say. One that says anything else is refused, so that nothing goes unchecked.
NOTES = frozenset(["$schema", "$id", "$defs", "title", "description"])
KEYWORDS = frozenset("type required properties additionalProperties items enum const pattern "
                     "minLength maxLength minimum maximum minItems maxItems uniqueItems anyOf $ref"
                     .split())
SCHEMAS = {}


def schema(kind):
    """Return the schema of a kind of file, read once; raise KitError."""
    if kind not in SCHEMAS:
        SCHEMAS[kind] = read_json(os.path.join(HERE, "schemas", f"{kind}.schema.json"))[0]
    return SCHEMAS[kind]


def is_sound(value, kind):
    """Return whether a file's value has no fault against the schema of its kind."""
    root = schema(kind)
    return sound_check(root, root)(value)


def faults_of(value, kind):
    """Return the faults of a file's value against the schema of its kind, a line each."""
    if is_sound(value, kind):           # most files are, and some hold a million judgments
        return []
    root = schema(kind)
    faults = [f"{where}: {what}" if where else what
              for where, what in schema_faults(value, root, root)]
    other = [fault for fault in faults if fault.startswith("schema: must be ")]
    return other or limited(faults)     # of a file of another kind, nothing else is worth saying


def limited(faults):
    """Return the first of many faults and how many more there are, or all of a few."""
    faults = list(faults)
    more = len(faults) - MOST_FAULTS
    return [*faults[:MOST_FAULTS], f"and {more} more faults"] if more > 0 else faults


def is_of_type(value, name):
    """Return whether a value is of a type of JSON Schema; true is no number, and 1.0 not whole."""
    return isinstance(value, TYPES[name][0]) and (
        name == "boolean" or not isinstance(value, bool))


def resolved(rule, root):
    """Return a schema without $ref; raise KitError for a keyword that is not known."""
    if "$ref" in rule:
        rule = root["$defs"][rule["$ref"].rpartition("/")[2]]
    unknown = rule.keys() - KEYWORDS - NOTES
    if unknown:
        raise KitError(f"schema: the keyword {few(sorted(unknown))} is not known")
    return rule


def sound_check(rule, root):
    """Return a fast function that says whether a value has no fault against a schema."""
    rule = resolved(rule, root)
    if "anyOf" in rule:
        tries = [sound_check(one, root) for one in rule["anyOf"]]
        return lambda value: any(check(value) for check in tries)
    names = rule.get("type")
    if names == "string":
        least, most = rule.get("minLength", 0), rule.get("maxLength", MAX_BYTES)
        if "pattern" not in rule:
            return lambda value: type(value) is str and least <= len(value) <= most
        match = re.compile(rule["pattern"]).fullmatch
        return lambda value: (type(value) is str and least <= len(value) <= most
                              and match(value) is not None)
    if names == "object":
        return sound_object(rule, root)
    if names == "array" and "items" in rule and not rule.get("uniqueItems"):
        check, least, most = (sound_check(rule["items"], root), rule.get("minItems", 0),
                              rule.get("maxItems", MAX_BYTES))
        return lambda value: type(value) is list and least <= len(value) <= most and all(
            map(check, value))
    if "enum" in rule or "const" in rule:
        allowed = {(type(one), one) for one in rule.get("enum", [rule.get("const")])}
        return lambda value: type(value) not in (dict, list) and (type(value), value) in allowed
    return lambda value: next(schema_faults(value, rule, root), None) is None


def sound_object(rule, root):
    """Return such a function for the schema of an object."""
    properties, needed = rule.get("properties", {}), frozenset(rule.get("required", ()))
    checks = {key: sound_check(one, root) for key, one in properties.items()}
    closed = rule.get("additionalProperties", True) is False

    def check(value):
        if type(value) is not dict or not needed <= value.keys():
            return False
        for key, item in value.items():
            if key in checks:
                if not checks[key](item):
                    return False
            elif closed:
                return False
        return True

    return check


def schema_faults(value, rule, root, where=""):
    """Yield (place, what is wrong) of a value against a schema."""
    rule = resolved(rule, root)
    if "anyOf" in rule:
        tried = [list(schema_faults(value, one, root, where)) for one in rule["anyOf"]]
        if all(tried):      # the alternative that comes furthest tells most
            yield from min(tried, key=lambda faults: (faults[0][0] == where, len(faults)))
            return
    names = rule.get("type", ())
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of_type(value, name) for name in names):
        yield where, f"must be {' or '.join(TYPES[name][1] for name in names)}, not {shown(value)}"
        return
    yield from ((where, what) for what in plain_faults(value, rule))
    if isinstance(value, dict):
        yield from object_faults(value, rule, root, where)
    elif isinstance(value, list) and "items" in rule:
        for place, item in enumerate(value):
            yield from schema_faults(item, rule["items"], root, f"{where}[{place}]")


def plain_faults(value, rule):
    """Yield what is wrong with a value by itself."""
    if "const" in rule and (value != rule["const"] or type(value) is not type(rule["const"])):
        yield f"must be {shown(rule['const'])}, not {shown(value)}"
    if "enum" in rule and not any(value == one and type(value) is type(one)
                                  for one in rule["enum"]):
        allowed = ", ".join("null" if one is None else str(one) for one in rule["enum"])
        yield f"must be one of {allowed}, not {shown(value)}"
    if isinstance(value, str):
        if len(value) < rule.get("minLength", 0):
            yield f"must be text of at least {rule['minLength']} characters, not {shown(value)}"
        if len(value) > rule.get("maxLength", MAX_BYTES):
            yield f"must be text of at most {rule['maxLength']} characters, not {len(value)}"
        if "pattern" in rule and not re.fullmatch(rule["pattern"], value):
            yield f"{shown(value)} must match {rule['pattern']}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < rule.get("minimum", value) or value > rule.get("maximum", value):
            yield (f"must be from {rule.get('minimum', 'anything')} to "
                   f"{rule.get('maximum', 'anything')}, not {shown(value)}")
    if isinstance(value, list):
        if len(value) < rule.get("minItems", 0):
            yield f"must hold at least {rule['minItems']}, not {len(value)}"
        if len(value) > rule.get("maxItems", MAX_BYTES):
            yield f"must hold at most {rule['maxItems']}, not {len(value)}"
        again = repeated(map(repr, value)) if rule.get("uniqueItems") else []
        if again:
            yield f"must not repeat {', '.join(again[:FEW])}"


def object_faults(value, rule, root, where):
    """Yield (place, what is wrong) of an object's keys and of what they hold."""
    known = rule.get("properties", {})
    lost = [key for key in rule.get("required", ()) if key not in value]
    if lost:
        yield where, f"{', '.join(lost)}: is missing"
    for key, item in value.items():
        place = f"{where}.{visible(key, 40)}" if where else visible(key, 40)
        if key in known:
            yield from schema_faults(item, known[key], root, place)
        elif rule.get("additionalProperties", True) is False:
            yield place, "is no key of this format"


def read_file(path, kind):
    """Return (value, bytes) of a file that follows the schema of its kind; raise KitError."""
    data = read_bytes(path)
    try:
        value = parse_any_depth(data)
        if not is_sound(value, kind):   # what follows a schema is as deep as the schema
            require_shallow(value)
            raise KitError(faults_of(value, kind))
    except KitError as error:
        raise KitError(in_file(path, error.faults)) from None
    return value, data


################ The frozen set

# queries: in order. policies: {id: policy}. invented: what an example says about itself, or None.
Set = namedtuple("Set", "set_id version status queries policies protocol manifest manifest_sha256 "
                        "invented")


def load_set(folder=HERE):
    """Return the Set of a folder, its files checked against its manifest; raise KitError."""
    path = os.path.join(folder, "manifest.json")
    if not os.path.exists(path):
        raise KitError(in_file(path, ["is missing: the set is not frozen; freeze.py writes it"]))
    manifest, data = read_file(path, "manifest")
    read, faults = {}, []
    listed = {entry["path"]: entry for entry in manifest["files"]}
    for name in ("queries", "protocol"):
        value, content = read_file(os.path.join(folder, f"{name}.json"), name)
        read[name] = value
        if sha256(content) != listed.get(f"{name}.json", {}).get("sha256"):
            faults += in_file(os.path.join(folder, f"{name}.json"), [
                "is not what manifest.json froze; freeze.py --verify says more"])
    queries = read["queries"]
    faults += in_file(os.path.join(folder, "queries.json"), query_faults(queries))
    faults += in_file(path, [f"{key}: {shown(manifest[key])} is not the queries' "
                             f"{shown(queries[key])}" for key in ("set_id", "version")
                             if manifest[key] != queries[key]])
    if faults:
        raise KitError(faults)
    status = manifest["status"] if queries["status"] == "frozen" else queries["status"]
    policies = {policy["evidence_policy_id"]: policy for policy in queries["evidence_policies"]}
    return Set(queries["set_id"], queries["version"], status, queries["queries"], policies,
               read["protocol"], manifest, sha256(data), queries.get("invented"))


def query_faults(queries):
    """Return the faults of a query set that its schema does not see."""
    ids = [query["query_id"] for query in queries["queries"]]
    policies = [policy["evidence_policy_id"] for policy in queries["evidence_policies"]]
    faults = [f"{what}: {few(again)}: occurs more than once" for what, again in (
        ("query_id", repeated(ids)), ("evidence_policy_id", repeated(policies))) if again]
    return faults + [f"queries: {shown(query['query_id'])}: evidence_policy_id: "
                     f"{shown(query['evidence_policy_id'])} is no policy of this file"
                     for query in queries["queries"] if query["evidence_policy_id"] not in policies]


def require_frozen(a_set, folder):
    """Raise KitError for a set that is not frozen: a draft, or development data by now."""
    if a_set.status != "frozen":
        raise KitError(in_file(folder, [f"the set's status is {shown(a_set.status)}; only a frozen "
                                        "set can be captured, pooled and evaluated"]))


def head(kind, a_set):
    """Return the first keys of every file that the kit writes."""
    return {"schema": f"{kind}/1", "set_id": a_set.set_id, "version": a_set.version,
            "manifest_sha256": a_set.manifest_sha256,
            **({"invented": a_set.invented} if a_set.invented else {})}


def head_faults(value, a_set):
    """Return the faults of a file that belongs to another set, version or manifest."""
    expected = {"set_id": a_set.set_id, "version": a_set.version,
                "manifest_sha256": a_set.manifest_sha256}
    return [f"{key}: {shown(value[key])} is not that of the frozen set, {shown(wanted)}"
            for key, wanted in expected.items() if value[key] != wanted]


################ Candidates

# An address that is canonical already, as most are.
CANONICAL = re.compile(r"https?://[a-z0-9.-]+(?:/[\w.~-]+)*", re.ASCII)
WELL_KNOWN = re.compile(r"/\.well-known/agent(?:-card)?\.json$")


def candidate_key(address):
    """Return what makes two addresses one candidate, or "" for no web address without credentials.

    Scheme and host are in lower case; there is no default port, fragment or trailing slash; the
    two names of the well-known file are one.
    """
    if CANONICAL.fullmatch(address) and not address.endswith("/.well-known/agent.json"):
        return address
    if address.lstrip()[:4].lower() != "http":
        return ""
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        return ""
    place = f"[{host}]" if ":" in host else host
    if port not in (None, {"http": 80, "https": 443}[parts.scheme]):
        place += f":{port}"
    path = WELL_KNOWN.sub("/.well-known/agent-card.json", parts.path.rstrip("/"))
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{place}{path}{query}"


def candidate_ids(set_id, version, query_id):
    """Return the function from a candidate key to its id in the pool of a query.

    The id is the first 16 hexadecimal digits of the SHA-256 of [set, version, query, key], as JSON
    without blanks.
    """
    parts = ",".join(map(encode_basestring, (set_id, version, query_id)))
    start = hashlib.sha256(f"[{parts},".encode())

    def identity(key):
        digest = start.copy()
        digest.update(f"{encode_basestring(key)}]".encode())
        return digest.hexdigest()[:16]

    return identity


def clean(text, limit):
    """Return a text on one line, without control characters, of at most so many characters."""
    if (len(text) <= limit and text.isascii() and text.isprintable() and "  " not in text
            and text[:1] != " " and text[-1:] != " "):
        return text         # as most are
    if not (text.isascii() and text.isprintable()):
        text = "".join(character if character.isprintable() or character in "\u200c\u200d" else
                       " " if character.isspace() else "" for character in text)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit - 1] + "…"


def is_ip_address(text):
    """Return whether a text is an IP address of either version."""
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


# What must not be published: (what, signs, pattern). A text in lower case without any of the signs
# is not searched, and a pattern begins with its sign where it can: both make the usual case fast.
# No pattern can begin inside a run that it could also begin at the start of, so none is slow.
CREDENTIAL, PRIVATE = "a credential", "a private address"
TOKEN = r"['\"]?(?=\S{0,200}\d)[\w.~+/-]{8,}"
FINDERS = [(what, sign, re.compile(pattern, re.ASCII)) for what, sign, pattern in (
    (CREDENTIAL, "@", r"://(?<=\w://)[^\s/?#@]*@"),
    *((CREDENTIAL, f"{kind}{mark}",
       rf"{kind}{mark}(?<!\w{kind}{mark})(?:(?:live|test|ant|proj)[-_]?)?\w{{16,}}")
      for kind in ("sk", "pk", "rk") for mark in "-_"),
    *((CREDENTIAL, f"gh{kind}_", rf"gh{kind}_(?<!\wgh{kind}_)\w{{20,}}") for kind in "pousr"),
    (CREDENTIAL, "github_pat_", r"github_pat_\w{20,}"),
    (CREDENTIAL, "glpat-", r"glpat-[\w-]{16,}"),
    *((CREDENTIAL, kind, rf"{kind}(?<!\w{kind})[0-9a-z]{{16}}\b") for kind in ("akia", "asia")),
    (CREDENTIAL, "xox", r"xox[abeoprs]-[\w-]{10,}"),
    (CREDENTIAL, "aiza", r"aiza(?<!\waiza)[\w-]{30,}"),
    (CREDENTIAL, "eyj", r"eyj(?<![\w-]eyj)[\w-]{8,2000}\.[\w-]{8,}"),
    (CREDENTIAL, "private key", r"-----begin [a-z ]{0,40}private key"),
    (CREDENTIAL, "bearer", r"bearer\s{1,20}(?=\S{0,200}\d)[\w.~+/-]{16,}"),
    *((CREDENTIAL, word, rf"{word}\s{{0,20}}[=:]\s{{0,20}}{TOKEN}")
      for word in ("key", "token", "secret", "password", "passwd")),
    (PRIVATE, "localhost", r"localhost(?<!\wlocalhost)(?!\w)"),
    *((PRIVATE, ending, rf"{re.escape(ending)}(?<=[\w-]{re.escape(ending)})(?![\w-]|\.\w)")
      for ending in (".local", ".internal", ".intranet", ".lan", ".localdomain", ".corp",
                     ".home.arpa")),
)]
FINDERS.append(("an e-mail address", "@", re.compile(
    r"@(?<=[\w.+%-]@)[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}")))
IP_SIGNS = [re.compile(pattern, re.ASCII) for pattern in (
    r"\.(?<=\d\.)\d{1,3}\.\d", r":[0-9a-f]{0,4}:")]
IP_ADDRESS = re.compile(
    r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\w)"
    r"|(?<![\w.:])[0-9a-f]{0,4}:[0-9a-f]{0,4}:[0-9a-f:.]{0,40}(?![\w:]|\.\w)", re.ASCII)


def lines_with(sign, text):
    """Yield each line of a text in which a pattern is found."""
    place = 0
    while match := sign.search(text, place):
        start = text.rfind("\n", 0, match.start()) + 1
        place = text.find("\n", match.end()) + 1 or len(text)
        yield text[start:place]


def private_findings(text):
    """Return what a text holds that must not be published, in words; an empty list for nothing."""
    lower = text.lower()
    found = {what for what, sign, pattern in FINDERS if sign in lower and pattern.search(lower)}
    if any(is_ip_address(one) for sign in IP_SIGNS for line in lines_with(sign, lower)
           for one in IP_ADDRESS.findall(line)):
        found.add("an IP address")
    return sorted(found)


################ Files and commands

def check_output(path, inputs):
    """Raise KitError if a file cannot be written at path, or is one of the inputs."""
    target = os.path.realpath(path)
    what = None
    if os.path.isdir(target):
        what = "is a folder; name a file"
    elif os.path.exists(target) and not os.path.isfile(target):
        what = "is not a regular file; - is standard output"
    elif not os.path.isdir(os.path.dirname(target)):
        what = "its folder does not exist"
    for name in inputs:
        if os.path.exists(target) and os.path.exists(name) and os.path.samefile(target, name):
            what = f"is an input ({visible(os.fspath(name))}); write to another file"
    if what:
        raise KitError(in_file(path, [what]))


def write_file(path, data):
    """Write bytes to path, whole or not at all; a link stays a link. Raise KitError."""
    with new_file(path) as file:
        file.write(data)


@contextmanager
def new_file(path):
    """Give a binary file that becomes the one at path if all goes well, or else is removed."""
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".{os.getpid()}-{os.urandom(6).hex()}.tmp")
    try:
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o777)
            os.replace(temporary, target)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise
    except OSError as error:
        raise KitError(in_file(path, [f"cannot be written: {reason(error)}"])) from None


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are KitErrors, one line each."""

    def error(self, message):
        """Raise KitError; --help shows the usage."""
        raise KitError(f"usage: {visible(message)}; see --help")


def help_formatter(prog):
    """Return a help formatter that need not look for the width of the terminal, which is slow."""
    return argparse.RawDescriptionHelpFormatter(prog, width=WIDTH)


def emit(output):
    """Write text or bytes to standard output; a closed pipe is no error."""
    stream = sys.stdout
    if stream is None:      # closed by the caller, who wants no summary
        if isinstance(output, bytes):
            raise KitError("standard output: is closed")
        return
    try:
        if isinstance(output, bytes) and hasattr(stream, "buffer"):
            stream.flush()
            stream.buffer.write(output)
        else:
            text = output.decode() if isinstance(output, bytes) else output
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError as error:
        # What is still buffered would raise again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise KitError(f"standard output: {reason(error)}") from None


def complain(lines):
    """Write lines to standard error, if there is one."""
    for line in lines if sys.stderr is not None else ():
        print(line, file=sys.stderr)
