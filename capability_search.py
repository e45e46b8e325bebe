#!/usr/bin/env python3
"""Search a directory of AI agents by capability, with two rankers.

    $ python capability_search.py "generate a PDF without an API key"

searches fixtures.json beside this file and prints how the query was read and the ranked results
with their reasons. Other listings, another ranker, explicit filters:

    $ python capability_search.py "stock quotes" --ranker baseline --json
    $ python capability_search.py "send an email" --listings my-directory.json --require signed=true

One that fails:

    $ python capability_search.py "send an email" --require signed=perhaps
    error: --require: signed: must be true or false, not 'perhaps'

Exit status: 0 done, also when nothing was found; 2 bad input or usage; 130 interrupted.

From Python, an index is built once and asked many times:

    index = CapabilityIndex(listings, now)
    index.recommend("generate a PDF", {"auth": "none"}, limit=5)["items"]

How the recommendation works, in the order of this file: a query is split into constraints, what it
rules out, and the task. The task's words become concepts (a word, its inflections, the operation
that a verb stands for, related words). A listing is read once, skill by skill; words that it denies
are left out. A listing is a result when one of its skills, or its description, covers enough of the
task (`needed_coverage`) and its skills with the right object do not all declare another operation.
Results are ordered by how well they declare the task; among comparable ones stored evidence
decides, then publishers rotate.
"""

import gc
import math
import re
import sys
from array import array
from bisect import bisect_left
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

RANKER_VERSION = "1.0.0"


class SearchError(ValueError):
    """A query, requirement, listing or option that breaks a rule; the message names it."""


################ Words

# A word with its apostrophes, a mark that ends or divides a sentence, or a number. The second is
# the same for texts in ASCII, and faster.
TOKEN = re.compile(r"[^\W\d_][^\W_]*(?:['’][^\W\d_]+)*|[.;:!?](?=\s|$)|[,\n()]"
                   r"|\d+\.\d+|[^\W_]+(?:['’][^\W\d_]+)*")
ASCII_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:'[A-Za-z]+)*|[.;:!?](?=\s|$)|[,\n()]"
                         r"|\d+\.\d+|[A-Za-z0-9]+(?:'[A-Za-z]+)*")
ENDINGS = frozenset(".;:!?\n")
# Inside "getHTTPResponse", "listPDFs" and "BigQuery", but not inside "OAuth", "iPhone" or "PDFs".
HUMP = re.compile(r"(?<=[a-z0-9]{2})(?=[A-Z])|(?<=[A-Z]{2})(?=[A-Z][a-z]{2})")
INTO = re.compile(r"([a-z]{3,})2([a-z]{3,})")
FUNCTION_WORDS = frozenset("""
a an the this that these those some any each every all both either neither few many much more most
less least other another such own same i me my mine myself we us our ours ourselves you your yours
yourself he him his himself she her hers herself it its itself they them their theirs themselves
one ones someone somebody something anyone anybody anything everyone everybody everything
who whom whose which what when where why how whatever whichever whoever wherever whenever
am is are was were be been being do does did done doing have has had having can could may might
must shall should will would ought and or but if then else because as until while of at by for with
about against between into through during before after above below to from up down in out on off
over under again further once here there than too very just only also so yet still even though
although unless since whether per via within upon among across along around toward towards onto
etc vs s t d ll m o re ve
""".split())
# What people say around a request.
REQUEST_WORDS = frozenset("""
please kindly thanks thank hello hi hey ok okay yes want need like would wish love hope try trying
look looking help assist assistance able know tell give let lets im ive id possible currently really
maybe perhaps provide interested
""".split())
SET_ASIDE = FUNCTION_WORDS | REQUEST_WORDS
# Stems of what a directory lists; said of every listing, so they tell little.
DIRECTORY_WORDS = frozenset("agent tool servic assistant bot mcp a2a".split())

VOWELS = frozenset("aeiouy")
IRREGULAR = dict(pair.split(":") for pair in """
paid:pay sent:send built:build made:make written:write wrote:write drawn:draw drew:draw bought:buy
found:find sold:sell taught:teach spoken:speak spoke:speak spent:spend heard:hear sung:sing
chosen:choose chose:choose driven:drive flown:fly eaten:eat slept:sleep won:win lost:lose kept:keep
held:hold hidden:hide shown:show known:know seen:see taken:take given:give told:tell met:meet
children:child people:person men:man women:woman feet:foot teeth:tooth mice:mouse geese:goose
indices:index matrices:matrix vertices:vertex criteria:criterion analyses:analysis lives:life
knives:knife wives:wife leaves:leaf
""".split())


def stem(word):
    """The lower-case word without plural, -ing, -ed and final e: "creating" gives "creat"."""
    word = IRREGULAR.get(word, word)
    if len(word) < 4 or not word.isascii():
        return word
    if word[-1] == "s":
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "ches", "shes", "xes", "zes")):
            word = word[:-2]
        elif not word.endswith(("ss", "us", "is")) or word.endswith("pis"):
            word = word[:-1]
    rest = word[:-3] if word.endswith("ing") else word[:-2] if word.endswith("ed") else ""
    if len(rest) >= 3 and not VOWELS.isdisjoint(rest):
        word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
    if len(word) > 3:
        if word[-1] == "e":
            word = word[:-1]
        if word[-1] == "y" and len(word) > 3 and word[-2] not in VOWELS:
            word = word[:-1] + "i"
    return word


def is_unspaced(letter):
    """Whether a letter's script puts no spaces between words: Thai, Japanese, Chinese, Korean.

    Pairs of neighbouring letters stand in for words there.
    """
    return ("\u0e00" <= letter <= "\u0e7f" or "\u3040" <= letter <= "\u30ff"
            or "\u3400" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af")


@lru_cache(maxsize=None)
def without_accents(word):
    """The word with its accents taken off: "Café" gives "Cafe"."""
    from unicodedata import combining, normalize
    return normalize("NFC", "".join(letter for letter in normalize("NFKD", word)
                                    if not combining(letter)))


def terms_of(token):
    """The stems in one raw token, none for function words: "listPDFs" gives ["list", "pdf"].

    A name of two parts also gives its whole, last: "BigQuery" gives ["big", "queri", "bigqueri"].
    """
    if token.isascii() and token.isalpha() and (token.islower() or token[1:].islower()):
        word = token.lower()  # By far the most common case.
        return [] if word in SET_ASIDE else [stem(word)]
    word = token.partition("'")[0].partition("\u2019")[0]
    if not word.isascii() and max(word) < "\u0250":  # Latin letters only.
        word = without_accents(word)
    pieces = [word] if word.islower() else HUMP.split(word)
    if len(pieces) == 2:
        pieces.append(word)
    terms = []
    for piece in map(str.lower, pieces):
        joined = INTO.fullmatch(piece)
        if joined:
            terms += [stem(part) for part in joined.groups()]
        elif not piece.isascii() and any(map(is_unspaced, piece)):
            for unspaced, letters in groupby(piece, is_unspaced):
                run = "".join(letters)
                terms += ([run[at:at + 2] for at in range(max(1, len(run) - 1))] if unspaced
                          else [stem(run)])
        elif piece not in SET_ASIDE:
            terms.append(stem(piece))
    return terms


################ Operations

# Verbs, and the nouns made of them, that mean one operation. A word behind "~" is an operation
# only where a verb stands: "book a table" schedules, "a book" does not.
OPERATIONS = """
generate: generate generation generator create creation creator make maker produce producer
    production compose composer composition render renderer craft synthesize synthesise synthesis
    ~build ~builder ~draft ~write ~writing ~writer ~design ~designer ~draw ~drawing ~prepare
    ~construct ~author
fill: fill filler populate ~complete ~completion
extract: extract extraction extractor parse parser scrape scraper ocr ~read ~reading ~reader
convert: convert converter conversion transform transformation transformer transcode ~turn
export: ~export exporter
import: ~import importer
resize: resize resizer ~scale
crop: crop cropper
start: ~start ~launch
stop: ~stop ~terminate
lock: ~lock
unlock: unlock unlocker
restore: restore restoration ~recover
archive: backup ~archive
close: ~close
sell: sell seller selling
renew: renew renewal
uninstall: uninstall uninstaller
repair: repair ~fix
transcribe: transcribe transcription transcriber ~caption ~dictation
merge: merge merger concatenate combine ~join
split: ~split splitter ~separate
compress: compress compression compressor ~shrink
verify: verify verification verifier validate validation validator checker confirm
    ~check ~test ~prove ~proof
detect: detect detection detector identify identification recognise recognize recognition
    ~spot ~flag
send: send sender deliver dispatch broadcast ~forward ~notify
publish: publish publisher ~post ~upload uploader
download: download downloader
search: find finder lookup discover discovery browse retrieve retrieval fetch locate locator
    ~search ~query ~explore ~get ~list ~obtain ~collect
view: viewer preview ~view ~display ~show ~open
translate: translate translation translator localise localize localisation localization
summarise: summarise summarize summarisation summarization summariser summarizer condense
    ~summary ~digest
schedule: scheduling scheduler booking reserve reservation ~schedule ~book ~arrange ~plan
buy: purchase purchasing buy buyer ~order ~shop
pay: ~pay ~charge ~transfer ~refund
monitor: monitoring ~monitor ~watch ~observe ~track tracking tracker ~alert
remind: remind reminder
compare: compare comparison ~match
explain: explain explanation explainer teach tutor describe clarify documentation ~document
    ~guide ~answer ~learn
recommend: recommend recommendation recommender suggest suggestion ~advise
edit: edit editor editing modify modification ~update ~change ~revise ~correct ~rewrite ~adjust
delete: delete deletion remove removal remover erase eraser ~clear ~strip
format: formatter formatting ~format beautify
analyse: analyse analyze analysis analyser analyzer evaluate evaluation assess assessment diagnose
    inspect inspection inspector ~audit ~review ~study
classify: classify classification classifier categorise categorize ~label ~tag ~sort
predict: predict prediction predictor forecasting ~forecast ~estimate
calculate: calculate calculation calculator compute ~count ~total
play: ~play playback
record: ~record recorder
encrypt: encrypt encryption
decrypt: decrypt decryption
sign: signing ~sign
deploy: deploy deployment
install: install installation installer
run: execute execution executor ~run
rotate: rotate rotation
cancel: cancel cancellation
negotiate: negotiate negotiation negotiator
approve: approve approval
simulate: simulate simulation simulator
optimise: optimise optimize optimisation optimization optimiser optimizer
stream: ~stream
manage: manage management manager handle automate automation operate administer administration
    maintain integrate integration interact organise organize ~control ~process ~support ~access
"""
# Operations that may be declared for one another without being a contradiction.
NEAR_OPERATIONS = """
generate convert edit draft
generate transcribe translate summarise
extract convert transcribe search view
search view download explain recommend monitor compare
verify detect analyse monitor compare
analyse compare classify predict calculate summarise detect explain
schedule buy pay
send publish remind
edit format delete optimise
merge convert
play stream view
deploy install run
simulate run calculate predict
"""
# Asked or declared, these say little: to search is what everybody does, to manage is everything.
ANY_OPERATION = frozenset(["search", "view", "manage", "run"])
# These say enough, since who translates, translates letters too; but for other media than text.
TELLING_OPERATIONS = frozenset(["translate", "transcribe", "summarise"])
MEDIA = frozenset("speech voic audio sound video clip film movi imag pictur photo song music "
                  "podcast call sign gestur".split())


def read_operations():
    """Two dicts from stem to operation: of clear words, and of words that need a verb's place."""
    clear, unclear = {}, {}
    name = None
    for word in OPERATIONS.split():
        if word.endswith(":"):
            name = word[:-1]
            clear.setdefault(stem(name), name)
        elif word.startswith("~"):
            unclear[stem(word[1:])] = name
        else:
            clear[stem(word)] = name
    for term in unclear:
        clear.pop(term, None)
    return clear, unclear


def read_near():
    """A dict from operation to the set of operations near it, itself included."""
    near = {}
    for line in NEAR_OPERATIONS.strip().splitlines():
        for name in line.split():
            near.setdefault(name, {name}).update(line.split())
    return near


CLEAR_OPERATIONS, UNCLEAR_OPERATIONS = read_operations()
NEAR = read_near()
# A verb may follow these; it may also start a sentence, a skill's name, or stand behind a comma.
ING_NOUNS = frozenset("recording drawing building reading writing clearing listing "
                      "spotting".split())
BEFORE_VERB = frozenset("to and or can please you i we will that which who helps lets not "
                        "then".split())


def operation_of(word, before):
    """The operation that a lower-case word stands for behind the word `before`, else None."""
    term = stem(word)
    if term in CLEAR_OPERATIONS:
        return CLEAR_OPERATIONS[term]
    if term in UNCLEAR_OPERATIONS and (
            before is None or before in BEFORE_VERB
            or word.endswith("ing") and word not in ING_NOUNS):
        return UNCLEAR_OPERATIONS[term]
    return None


def unknown_operation(term):
    """The operation of a verb that OPERATIONS does not know: its own."""
    return "?" + term


def are_near(asked, declared):
    """Whether a skill that declares one operation may serve somebody who asks for the other."""
    return asked == declared or declared in NEAR.get(asked, ()) or declared == "manage"


################ Requirements: explicit evidence filters

AUTH_KINDS = ("none", "api_key", "http", "oauth2", "oidc", "mtls")
# The card's name for a scheme object, and in the older flat form its "type", to our kind.
SCHEME_KINDS = {
    "apiKeySecurityScheme": "api_key", "apiKey": "api_key",
    "httpAuthSecurityScheme": "http", "http": "http",
    "oauth2SecurityScheme": "oauth2", "oauth2": "oauth2",
    "openIdConnectSecurityScheme": "oidc", "openIdConnect": "oidc",
    "mtlsSecurityScheme": "mtls", "mutualTLS": "mtls",
}


def is_age(value):
    """Whether a value is a finite number of hours above zero; True is no number here."""
    return type(value) in (int, float) and 0 < value < math.inf


def is_auth_list(value):
    """Whether a value is a list of authentication kinds, at least one."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(
        isinstance(kind, str) and kind in AUTH_KINDS for kind in value)


# Key: whether a value is of its kind, that kind in words, and whether Facts satisfy it.
REQUIREMENTS = {
    "auth": (lambda value: isinstance(value, str) and value in AUTH_KINDS,
             "one of " + ", ".join(AUTH_KINDS),
             lambda facts, value: frozenset(() if value == "none" else (value,))
             in facts.alternatives),
    "exclude_auth": (is_auth_list, "a list of " + ", ".join(AUTH_KINDS),
                     lambda facts, value: any(
                         alternative.isdisjoint(value) and (alternative or "none" not in value)
                         for alternative in facts.alternatives)),
    "signed": (lambda value: isinstance(value, bool), "true or false",
               lambda facts, value: facts.signed is value),
    "transport": (lambda value: isinstance(value, str) and value.strip() != "",
                  "the name of a protocol binding",
                  lambda facts, value: value.strip().casefold() in facts.transports),
    "streaming": (lambda value: value is True, "true",
                  lambda facts, value: facts.streaming),
    "tls": (lambda value: value is True, "true",
            lambda facts, value: facts.tls is True),
    "card_max_age_hours": (is_age, "a number of hours above 0",
                           lambda facts, value: facts.card_age is not None
                           and facts.card_age <= value),
    "protocol_max_age_hours": (is_age, "a number of hours above 0",
                               lambda facts, value: facts.protocol_age is not None
                               and facts.protocol_age <= value),
}


def checked_requirements(requirements):
    """The requirements as a dict; SearchError names every unknown key or value of a wrong kind."""
    if requirements is None:
        return {}
    if not isinstance(requirements, dict):
        raise SearchError(f"requirements: must be an object, not {requirements!r}")
    faults = []
    for key, value in requirements.items():
        if key not in REQUIREMENTS:
            faults.append(f"{key}: unknown requirement; known: {', '.join(REQUIREMENTS)}")
        elif not REQUIREMENTS[key][0](value):
            faults.append(f"{key}: must be {REQUIREMENTS[key][1]}, not {value!r}")
    if faults:
        raise SearchError("\n".join(faults))
    return dict(requirements)


def text_of(value):
    """The value when it is text, else "": a card may hold anything."""
    return value if isinstance(value, str) else ""


def dict_of(value):
    """The value when it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value):
    """The dicts in a list; none for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts_of(value):
    """The texts in a list; none for anything else."""
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


# What every Python from 3.10 reads alike; fractions are brought to six digits.
TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*(Z|[+-]\d\d:\d\d)",
                  re.ASCII)


def parse_time(value):
    """The aware datetime of an ISO 8601 text; SearchError when it is none or lacks an offset."""
    time = aware_time(value) if isinstance(value, str) else None
    if time is None:
        raise SearchError("must be an ISO 8601 time with an offset, such as "
                          f"2026-10-20T12:00:00+00:00, not {value_text(value)}")
    return time


@lru_cache(maxsize=10_000)
def aware_time(text):
    """The aware datetime of a text, or None; a directory repeats few texts many times."""
    from datetime import datetime
    found = TIME.fullmatch(text)
    if found:
        moment, fraction, offset = found.groups()
        moment += ":00" if len(moment) == 16 else ""
        try:
            return datetime.fromisoformat(moment + (fraction or ".0").ljust(7, "0")
                                          + ("+00:00" if offset == "Z" else offset))
        except ValueError:
            pass
    return None


def scheme_kind(scheme):
    """The kind of one declared scheme object, or "other"."""
    if isinstance(scheme, dict):
        for name, kind in SCHEME_KINDS.items():
            if name in scheme or scheme.get("type") == name:
                return kind
    return "other"


def auth_alternatives(card):
    """The declared ways in: a tuple of frozensets of kinds; an empty set needs nothing."""
    schemes = card.get("securitySchemes")
    schemes = schemes if isinstance(schemes, dict) else {}
    declared = card.get("securityRequirements")
    if isinstance(declared, list) and declared:
        return tuple(frozenset(scheme_kind(schemes.get(name)) for name in
                               dict_of(dict_of(needs).get("schemes"))) for needs in declared)
    if schemes:
        return tuple(frozenset([scheme_kind(scheme)]) for scheme in schemes.values())
    return (frozenset(),)


FRESH_HOURS = 7 * 24


class Facts:
    """What a listing declares and what was observed of it, as the requirements ask for it."""

    __slots__ = ("alternatives", "signed", "transports", "streaming", "tls", "card_age",
                 "protocol_age", "listed", "evidence")

    def __init__(self, listing, now):
        card = dict_of(listing.get("card"))
        observations = dict_of(listing.get("observations"))
        self.alternatives = auth_alternatives(card)
        self.signed = bool(card.get("signatures"))
        self.transports = frozenset(
            text_of(interface.get("protocolBinding")).strip().casefold()
            for interface in dicts_of(card.get("supportedInterfaces")))
        self.streaming = dict_of(card.get("capabilities")).get("streaming") is True
        ages = {kind: located(f"observations.{kind}.at", age_of, observations.get(kind), now)
                for kind in ("card", "protocol", "tls")}
        self.card_age, self.protocol_age = ages["card"], ages["protocol"]
        self.tls = ages["tls"] is not None
        # In seconds since 1970; a listing that does not say is older than all others.
        self.listed = (-math.inf if listing.get("listed_at") is None else
                       located("listed_at", parse_time, listing["listed_at"]).timestamp())
        # What counts among comparable matches, a point each.
        self.evidence = [name for name, holds in (
            ("signed card", self.signed),
            ("fresh card", self.card_age is not None and self.card_age <= FRESH_HOURS),
            ("working TLS", self.tls),
            ("answered lately", self.protocol_age is not None
             and self.protocol_age <= FRESH_HOURS)) if holds]

    def because(self, key):
        """What the listing declares, or what was observed, on the subject of a requirement."""
        if key in ("auth", "exclude_auth"):
            ways = [" with ".join(sorted(way)) or "nothing" for way in self.alternatives]
            return f"needs {' or '.join(ways)}"
        if key == "transport":
            return f"speaks {', '.join(sorted(self.transports)) or 'nothing it names'}"
        if key == "signed":
            return "the card is signed" if self.signed else "the card is not signed"
        if key == "streaming":
            return "declares streaming"
        if key == "tls":
            return "TLS was seen to work"
        age = self.card_age if key == "card_max_age_hours" else self.protocol_age
        return f"seen {age:.1f} hours before the clock"


def age_of(observation, now):
    """Hours since a successful observation; None for a failed, future or missing one."""
    if not isinstance(observation, dict) or observation.get("ok") is not True:
        return None
    hours = (now - parse_time(observation.get("at"))).total_seconds() / 3600
    return hours if hours >= 0 else None


################ Constraints in words

# What a constraint may be about. `names`: how people call it. `asked`: the requirement of "with
# NAME" or "NAME only"; `refused`: the requirement of "without NAME" or "no NAME needed"; None where
# no requirement says that: then the words are taken out of the task and nothing is filtered.
# `alone`: words that ask by themselves.
THINGS = (
    dict(names="api key, api keys, apikey, apikeys, access key",
         asked={"auth": "api_key"}, refused={"exclude_auth": ["api_key"]}),
    dict(names="key, keys", refused={"exclude_auth": ["api_key"]}, alone_refused="keyless"),
    dict(names="login, log in, logging in, logins, sign in, signing in, signin, sign on, sign up, "
               "signing up, signup, account, accounts, user account, registration, registering, "
               "register, authentication, authenticating, authenticate, authorisation, "
               "authorization, auth, credential, credentials, password, passwords",
         refused={"auth": "none"},
         alone_refused="anonymously, anonymous access, anonymous use, anonymous usage, "
                       "anonymous calls, anonymous requests, unauthenticated, loginless, "
                       "accountless, passwordless, open access"),
    dict(names="anonymous", asked={"auth": "none"}),  # See also ANONYMOUS_THINGS.
    dict(names="oauth, oauth2, oauth 2, oauth 2.0, oauth2 0",
         asked={"auth": "oauth2"}, refused={"exclude_auth": ["oauth2"]}),
    dict(names="openid connect, openid, oidc, open id connect",
         asked={"auth": "oidc"}, refused={"exclude_auth": ["oidc"]}),
    dict(names="mutual tls, mtls, two way tls, client certificate, client certificates",
         asked={"auth": "mtls"}, refused={"exclude_auth": ["mtls"]}),
    dict(names="bearer token, bearer tokens, bearer, http bearer, http auth, http authentication, "
               "http basic, basic auth, basic authentication",
         asked={"auth": "http"}, refused={"exclude_auth": ["http"]}),
    dict(names="signature, signed card, signed agent card, signed cards, card signature, signed, "
               "publisher signature, verified signature",
         asked={"signed": True}, refused={"signed": False},
         alone="signed card, signed cards, signed agent card, signed agent cards, card signed, "
               "card is signed, card must be signed, signed card only, cards signed, "
               "cryptographically signed, verified publisher signature, publisher signature, "
               "publisher's signature, verified publisher, signed by its publisher, "
               "signed by a verified publisher, "
               "signed by the publisher, signed agents, verified signature, valid signature, "
               "signature verified, signature is verified",
         alone_refused="unsigned card, unsigned cards, unsigned agent card, unsigned agent cards, "
                       "unsigned agents, card unsigned, card is unsigned"),
    dict(names="grpc", asked={"transport": "GRPC"}),
    dict(names="json rpc, jsonrpc, json rpc 2.0", asked={"transport": "JSONRPC"}),
    dict(names="rest, restful, http json, rest api, restful api, rest interface",
         asked={"transport": "HTTP+JSON"}),
    dict(names="streaming, streaming responses, streamed responses, streaming response, "
               "streaming output, streaming replies, streaming answers, sse",
         asked={"streaming": True},
         alone="streaming responses, streamed responses, streaming support, streaming agent, "
               "streaming agents, stream responses, streams responses, streams its answers, "
               "streams its responses, streams its output, streams its replies, streams answers, "
               "streams results, streams its results, streaming replies, streaming answers, "
               "streaming output, can stream"),
    dict(names="tls, https, valid tls, working https, valid https, working tls, valid certificate, "
               "valid tls certificate, ssl, valid ssl",
         asked={"tls": True},
         alone="valid tls, working https, valid https, working tls, https working, tls working, "
               "https works, tls works, https that works, tls that works, tls ok, https ok, "
               "tls is ok, https is ok, https must work, tls must work, tls valid, https valid, "
               "tls is valid, "
               "valid tls certificate, valid ssl"),
)
# "without", up to six small words, a name: "without having to set up an account".
REFUSERS = frozenset("""
without no not zero sans minus never nor neither avoid avoiding skip skipping except excluding
doesn't don't won't needn't isn't mustn't shouldn't can't cannot aren't wasn't nothing
""".split())
# "with", up to four small words, a name: "that speaks only gRPC".
ASKERS = frozenset("""
with using via over through by support supports supporting speak speaks speaking require requires
requiring need needs use uses accept accepts accepting offer offers offering has have having on
authenticated authenticates authenticating secured protected behind must exposing exposes exposed
take takes taking
""".split())
SMALL = frozenset("""
a an any the of for to my your our their its have has having need needing needs require requires
requiring required use uses using ask asks asking provide providing supply supplying create creating
set setting up get getting obtain obtaining enter entering make making kind sort form extra user
personal there be being been is are valid demand demands want wants it must should do does did will
or only support supported supports give giving by with separate necessarily needed own involve
involving handing over depend rely relying on me us anyone that which
""".split())
# Behind a name: it is asked for, or not needed after all.
ASKED_BEHIND = frozenset("only required mandatory preferred needed essential must protected "
                         "secured".split())
NOT_NEEDED = frozenset("required needed necessary used involved mandatory require asked".split())
WAIVED = frozenset("fine ok okay optional acceptable allowed welcome".split())
# Words that may stand behind a name that was asked for; another noun makes it part of the task,
# as in "with OAuth flows".
AFTER_NAME = frozenset("""
auth authentication authorisation authorization login security interface interfaces transport
protocol binding endpoint endpoints api support access enabled connection token tokens sign agent
agents card cards service output responses mode only required
""".split()) | ASKED_BEHIND
# Taken out with the constraint that they introduce.
INTRODUCING = frozenset("""
that which whose with and but must should is are be it has have needs need needing requires require
requiring works work working available usable accessible reachable authenticate authenticated
authenticating
authenticates secured protected supports supporting support speaks speaking exposed offered only an
a the please ideally use uses using over via through in its completely fully entirely
""".split())
AUTH_TASKS = frozenset("log sign login authenticate authenticating authorize authorise "
                       "onboard".split())

# Ages: hours in a unit, and how a number may be written.
UNIT_HOURS = {"minute": 1 / 60, "min": 1 / 60, "hour": 1, "hr": 1, "h": 1, "day": 24, "d": 24,
              "week": 168, "wk": 168, "w": 168, "fortnight": 336, "month": 720}
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
           "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "twenty": 20,
           "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "eleven": 11,
           "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "eighteen": 18,
           "couple": 2, "half": 0.5}
RECENT_HOURS, CURRENT_HOURS = 7 * 24, 24
# What the directory does to a card; what happens to a card but to other things as well; what an
# agent does when the directory asks it; and how it then is.
CARD_SEEN = frozenset("checked seen verified refreshed crawled observed indexed fetched looked "
                      "rechecked inspected probed".split())
CARD_CHANGED = frozenset("updated changed modified renewed".split())
ANSWERED = frozenset("responded responding answered answering replied replying responds answers "
                     "replies".split())
REACHABLE = frozenset("reachable reached up online alive available live contacted pinged "
                      "contactable".split())
CARD_WORDS = frozenset("card cards listing listings entry entries profile".split())
AGENT_WORDS = CARD_WORDS | frozenset("agent agents endpoint endpoints it protocol".split())
AGE_LINKS = frozenset("was were is are been be has have had that which whose last most recently by "
                      "the directory and successfully being to your you when age currently "
                      "now".split())


# What is anonymous in a task; anything else that is called so is used without signing in.
ANONYMOUS_THINGS = frozenset("""
author authors chat chats comment comments contact data donation donations donor email emails
feedback form forms letter letters mail message messages poll polls question questions report
reports review reviews source sources survey surveys tip tips user users visitor visitors
""".split())


def phrases(text):
    """The phrases between the commas of a table cell, as tuples of words."""
    return [tuple(phrase.split()) for phrase in text.split(",") if phrase.strip()]


def read_things():
    """Dicts from phrase to its row, for names and for words that stand alone, by first word."""
    names, alone = {}, {}
    for row in THINGS:
        for phrase in phrases(row["names"]):
            names.setdefault(phrase[0], []).append((phrase, row))
        for column, asked in (("alone", True), ("alone_refused", False)):
            for phrase in phrases(row.get(column, "")):
                alone.setdefault(phrase[0], []).append((phrase, row, asked))
    for table in (names, alone):
        for entries in table.values():
            entries.sort(key=lambda entry: -len(entry[0]))
    return names, alone


THING_NAMES, THINGS_ALONE = read_things()


def phrasings():
    """Pairs of a phrasing and its requirement (None: taken out, nothing filtered), as a table.

    NAME stands for each name in the row before it. The README prints these rows; every one can be
    put behind a task, as in "generate a PDF, NAME only".
    """
    rows = []
    for row in THINGS:
        names = row["names"]
        if row.get("asked"):
            rows.append(("with / using / via / over NAME; NAME only; NAME required; a NAME agent",
                         names, row["asked"]))
        if row.get("refused"):
            rows.append(("without NAME; not NAME" if "signed" in row["refused"] else
                         "without / no / doesn't need NAME; NAME not needed; NAME-free", names,
                         row["refused"]))
        if row.get("alone"):
            rows.append(("NAME", row["alone"], row["asked"]))
        if row.get("alone_refused"):
            rows.append(("NAME", row["alone_refused"], row["refused"]))
    rows += [
        ("card / listing NAME in the last N hours / days / weeks; NAME within N days; NAME today",
         ", ".join(sorted(CARD_SEEN | CARD_CHANGED)), {"card_max_age_hours": "N in hours"}),
        ("recently NAME; NAME recently; fresh card", ", ".join(sorted(CARD_SEEN)),
         {"card_max_age_hours": RECENT_HOURS}),
        ("NAME in the last N hours / days / weeks; NAME within N days; NAME today",
         ", ".join(sorted(ANSWERED | REACHABLE)), {"protocol_max_age_hours": "N in hours"}),
        ("recently NAME; NAME recently", ", ".join(sorted(ANSWERED | REACHABLE)),
         {"protocol_max_age_hours": RECENT_HOURS}),
    ]
    return rows


class ConstraintReader:
    """Finds constraints in a query's lower-case tokens; `taken` holds the tokens they use up."""

    def __init__(self, words):
        self.words = words
        self.taken = set()
        self.constraints = {}
        self.phrases = []
        at = 0
        while at < len(words):
            found = (self.refusal(at) or self.standing_alone(at) or self.behind(at)
                     or self.asked(at) or self.age(at))
            name = self.name_at(at)
            at = found or (name[1] if name else at + 1)

    def word(self, at):
        """The token at a place, "" outside the query."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def starts(self, at, phrase):
        """Whether the tokens at a place are the phrase."""
        return tuple(self.words[at:at + len(phrase)]) == phrase

    def name_at(self, at):
        """The longest name at a place: (row, place behind it), or None."""
        for phrase, row in THING_NAMES.get(self.word(at), ()):
            if self.starts(at, phrase):
                return row, at + len(phrase)
        return None

    def skip_small(self, at, most):
        """The first place from `at` on with a name, or without a small word."""
        for _ in range(most):
            if self.name_at(at) or self.word(at) not in SMALL:
                break
            at += 1
        return at

    def take(self, start, end, requirement):
        """`end`, after noting the requirement and taking out the words and what leads to them."""
        while start and self.word(start - 1) in INTRODUCING | {","}:
            start -= 1
        for key, value in (requirement or {}).items():
            if key == "exclude_auth":
                value = sorted({*self.constraints.get(key, ()), *value}, key=AUTH_KINDS.index)
            elif key.endswith("_hours"):
                value = min(value, self.constraints.get(key, value))
            self.constraints[key] = value
        if requirement and not {"signed", "card_max_age_hours"}.isdisjoint(requirement):
            while start and self.word(start - 1) in CARD_WORDS | INTRODUCING:
                start -= 1
            end += self.word(end) in CARD_WORDS
        self.taken.update(range(start, end))
        self.phrases.append(" ".join(w for w in self.words[start:end] if w != ",").strip())
        return end

    def refusal(self, at):
        """The place behind "without NAME", taken out; None where there is none."""
        if self.word(at) not in REFUSERS:
            return None
        place = self.skip_small(at + 1, 6)
        found = self.name_at(place)
        if not found:
            return None
        small = self.words[at + 1:place]
        if "the" in small and self.word(place) in ("key", "keys", "password", "passwords"):
            return None  # "unlock a PDF without the password" speaks of the PDF's.
        while found:
            row, place = found
            requirement = row.get("refused")
            if requirement == {"signed": False} and not (
                    {"have", "need", "needs", "necessarily"}.isdisjoint(small)):
                requirement = None  # "doesn't have to be signed" rules nothing out.
            if self.word(place) in WAIVED | {"problem"}:
                requirement = None
            at = self.take(at, place, requirement)
            found = self.further_name(place)
        while self.word(at) in NOT_NEEDED | {"at", "all", "either", "please", "whatsoever", "is",
                                             "be", "to"} and self.word(at):
            if self.word(at) in ("at", "is", "be", "to") and self.word(at + 1) not in (
                    NOT_NEEDED | {"all", "be"}):
                break
            self.taken.add(at)
            at += 1
        return at

    def further_name(self, at):
        """The next name of "no login, account or API key", as `name_at` gives it, or None."""
        if self.word(at) not in ("or", "and", "nor", ","):
            return None
        at += 1 + (self.word(at + 1) in ("or", "and", "nor", "no"))
        found = self.name_at(at + (self.word(at) in ("a", "an", "any")))
        further = found and not {"auth", "exclude_auth"}.isdisjoint(found[0].get("refused", ()))
        return found if further and self.word(found[1]) not in ASKED_BEHIND else None

    def standing_alone(self, at):
        """The place behind words that ask by themselves, taken out; None where there are none."""
        for phrase, row, asked in THINGS_ALONE.get(self.word(at), ()):
            end = at + len(phrase)
            behind = end + (self.word(end) in ("is", "are", "be"))
            if self.starts(at, phrase) and self.word(behind) not in (
                    "not", "isn't", "unnecessary", "optional", "free"):
                while self.word(end) in ASKED_BEHIND | {"verified", "please"}:
                    end += 1
                return self.take(at, end, row["asked"] if asked else row["refused"])
        return None

    def behind(self, at):
        """The place behind "NAME only" or "NAME not needed", taken out; else None."""
        found = self.name_at(at)
        if not found:
            return None
        row, place = found
        if self.word(at) == "anonymous" and self.word(place) not in ANONYMOUS_THINGS:
            while self.word(place) in ASKED_BEHIND:
                place += 1
            return self.take(at, place, row["asked"])
        if self.word(place) == "free" or self.word(place) == "unnecessary":
            return self.take(at, place + 1, row.get("refused"))
        if self.word(place) in AFTER_NAME - ASKED_BEHIND and self.word(place + 1) in (
                ASKED_BEHIND | WAIVED | {"not", "is", "isn't"}):
            place += 1
        is_there = self.word(place) in ("is", "are", "must", "be", "should")
        end = place + is_there
        if self.word(end) in ("not", "isn't", "aren't", "needn't") or (
                self.word(end) == "never"):
            end += 1 + (self.word(end + 1) == "be")
            if self.word(end) in NOT_NEEDED:
                refused = row.get("refused")
                return self.take(at, end + 1, None if refused == {"signed": False} else refused)
            return None
        if self.word(end) in WAIVED and is_there:
            return self.take(at, end + 1, None)
        if self.word(end) == "optional":
            return self.take(at, end + 1, None)
        if row.get("asked") and (self.word(end) in ASKED_BEHIND or (
                is_there and self.word(end) in ("used", "supported", "there"))):
            return self.take(at, end + 1, row["asked"])
        while self.word(end) in AFTER_NAME:
            end += 1
        opens = self.word(at - 1) == "," or self.word(at - 1) == "and" and at - 2 in self.taken
        if row.get("asked") and self.word(place) in ("agent", "agents") and not any(
                len(phrase) > place - at and self.starts(at, phrase)
                for phrase, _, _ in THINGS_ALONE.get(self.word(at), ())):
            return self.take(at, place, row["asked"])
        if row.get("asked") and opens and (
                self.word(end) in ("", ",", "and", "please") or self.word(end) in ENDINGS):
            return self.take(at, end, row["asked"])
        return None

    def asked(self, at):
        """The place behind "with NAME", taken out; None where it is no constraint."""
        if self.word(at) not in ASKERS:
            return None
        place = self.skip_small(at + 1, 4)
        if self.word(place) == "either":
            place += 1
        found = self.name_at(place)
        if not found or not found[0].get("asked"):
            return None
        row, end = found
        if self.word(end - 1) == "signature" and not {"my", "our"}.isdisjoint(self.words[at:end]):
            return None  # "sign a letter with my signature" is about another one.
        if "auth" in row["asked"] and self.is_auth_task(at):
            return None  # "log users in with OAuth" is the task itself.
        while self.word(end) in AFTER_NAME:
            end += 1
        following = self.word(end)
        if following and following not in FUNCTION_WORDS and following not in ",.;:!?)\n" and (
                following not in ("please", "ideally", "card", "answered", "recently")
                and following not in REFUSERS
                and following not in CARD_SEEN | ANSWERED | REACHABLE):
            return None  # "with OAuth flows" is about something else.
        further = self.name_at(end + 1 + (self.word(end + 1) in ("a", "an")))
        if further and further[0].get("asked") and self.word(end) == "or":
            return self.take(at, further[1], None)  # No requirement says "one of the two".
        at = self.take(at, end, row["asked"])
        if further and further[0].get("asked") and self.word(end) == "and":
            at = self.take(end, further[1], further[0]["asked"])
        return at

    def is_auth_task(self, at):
        """Whether "with NAME" at a place belongs to signing somebody in, the task itself."""
        for place in range(at):
            if self.words[place] in AUTH_TASKS:
                between = [word for word in self.words[place + 1:at] if word not in FUNCTION_WORDS]
                if between or not any(terms_of(word) for word in self.words[:place]):
                    return True
        return False

    def number_of_units(self, at):
        """(hours, place behind) of "24 hours", "two days", "a week", "24h"; None for others."""
        word = self.word(at)
        glued = re.fullmatch(r"(\d{1,5})([a-z]+)", word)
        if glued and self.unit(glued[2]):
            return float(glued[1]) * self.unit(glued[2]), at + 1
        number = NUMBERS.get(word)
        if re.fullmatch(r"\d{1,5}(\.\d+)?", word):
            number = float(word)
        if number is None:
            return (self.unit(word), at + 1) if self.unit(word) else None
        at += 1
        if word == "a" and self.word(at) == "couple":
            number, at = 2, at + 1
        if self.word(at) == "of":
            at += 1
        if word == "half" and self.word(at) in ("a", "an"):
            at += 1
        if self.word(at) in NUMBERS and word in ("twenty", "thirty"):
            number, at = number + NUMBERS[self.word(at)], at + 1
        return (number * self.unit(self.word(at)), at + 1) if self.unit(self.word(at)) else None

    @staticmethod
    def unit(word):
        """The hours in a unit, singular or plural; 0 for other words."""
        return UNIT_HOURS.get(word) or UNIT_HOURS.get(word[:-1] if word.endswith("s") else "", 0)

    def span(self, at):
        """(hours, place behind) of "in the last 3 days", "today", "at most a week old"; or None."""
        if self.word(at) in ("today", "yesterday"):
            return (24 if self.word(at) == "today" else 48), at + 1
        if self.word(at) == "this" and self.unit(self.word(at + 1)):
            return self.unit(self.word(at + 1)), at + 2
        within = self.word(at) in ("within", "in", "during", "over", "for", "under")
        bounded = self.word(at) == "within" or self.word(at) == "under"
        at += within
        at += self.word(at) == "the"
        if self.word(at) in ("last", "past", "previous", "preceding"):
            bounded, at = True, at + 1
        elif self.word(at) in ("less", "fewer") and self.word(at + 1) == "than":
            bounded, at = True, at + 2
        elif self.word(at) in ("no", "not") and self.word(at + 2) == "than" and (
                self.word(at + 1) in ("more", "older", "longer")):
            bounded, at = True, at + 3
        elif self.word(at) == "at" and self.word(at + 1) in ("most", "latest"):
            bounded, at = True, at + 2
        elif self.word(at) in ("max", "maximum"):
            bounded, at = True, at + 1
        found = self.number_of_units(at) if bounded else None
        if not found or not is_age(found[0]):
            return None
        hours, at = found
        at += self.word(at) in ("ago", "old", "or")
        at += self.word(at) == "less" and self.word(at - 1) == "or"
        return hours, at

    def age(self, at):
        """The place behind "card checked in the last N days", taken out; else None."""
        start, subject = at, None
        if self.word(at - 1) in AGE_LINKS or self.word(at - 1) in REFUSERS:
            return None  # The chain was tried from its start; "not checked lately" asks nothing.
        if self.word(at) in AGENT_WORDS:
            if self.word(at) == "agent" and self.word(at + 1) in CARD_WORDS:
                at += 1
            subject, at = self.word(at), at + 1
        relative = self.word(at) in ("that", "which", "whose")
        while self.word(at) in AGE_LINKS | ({"card", "listing"} if subject is None else set()):
            if self.word(at) in CARD_WORDS:
                subject = self.word(at)
            at += 1
        recently = "recently" in self.words[start:at]
        word = self.word(at)
        if subject in CARD_WORDS and not recently and self.span(start + 1 + (
                self.word(start) == "agent")):
            hours, end = self.span(start + 1 + (self.word(start) == "agent"))
            return self.take(start, end, {"card_max_age_hours": hours})
        if subject in CARD_WORDS and self.span(at):
            hours, end = self.span(at)
            return self.take(start, end, {"card_max_age_hours": hours})
        if word in CARD_SEEN or (word in CARD_CHANGED and subject in CARD_WORDS) or (
                word in CARD_CHANGED and subject == "agent"):
            key = "card_max_age_hours"
        elif word in ANSWERED or word in REACHABLE:
            key = "protocol_max_age_hours"
            before = self.word(start - 1)
            if word in REACHABLE and relative and subject is None and before != "," and (
                    AGENT_WORDS.isdisjoint(self.words[:start])
                    and not (before.endswith(("er", "or")) and stem(before) in CLEAR_OPERATIONS)):
                return None  # "servers that were online in the last hour" are what is looked for.
        elif word in ("fresh", "up-to-date") and self.word(at + 1) in CARD_WORDS:
            return self.take(start, at + 2, {"card_max_age_hours": RECENT_HOURS})
        else:
            return None
        at += 1
        while self.word(at) in ("by", "the", "directory", "and", "found", "working", "as", "at",
                                "to", "requests", "some", "time", "successfully", "least", "once",
                                "calls", "a", "request", "your") and not self.span(at):
            at += 1
        found = self.span(at)
        if found:
            return self.take(start, found[1], {key: found[0]})
        if recently or self.word(at) in ("recently", "lately"):
            return self.take(start, at + (self.word(at) in ("recently", "lately")),
                             {key: RECENT_HOURS})
        if word in REACHABLE and not {"currently", "now"}.isdisjoint(self.words[start:at + 1]):
            return self.take(start, at + (self.word(at) == "now"), {key: CURRENT_HOURS})
        return None


################ Related words

# General English, by field of life. Words in front of ">" are used for one another; those behind it
# are kinds or parts of them. "_" joins the words of a phrase.
RELATED = """
# travel and places
travel trip journey tour vacation holiday tourism > itinerary sightseeing destination excursion
travel trip journey tour vacation holiday tourism > cruise backpacking
hotel accommodation lodging hostel motel inn airbnb resort > room stay
flight airline airfare plane airplane aviation > airport layover boarding departure
train rail railway > metro subway station tram
bus coach shuttle > transit
transit commute > bus train metro subway tram
taxi cab ride uber lyft rideshare
car vehicle automobile auto > sedan suv truck motorcycle dealership mileage
parking garage
map maps cartography geography > geocoding coordinate latitude longitude location
geocode geocoding coordinate coordinates > latitude longitude address
location place address whereabouts position > city town country coordinate geolocation nearby
route direction directions navigation itinerary > driving walking
nearby near closest local around
city town municipality village
country nation > state province region
border boundary
passport visa immigration
luggage baggage suitcase
restaurant dining diner eatery > cafe bistro menu cuisine dinner lunch eat
beach coast seaside shore
museum gallery exhibition > exhibit
park garden trail > hiking
# food
food meal dish cuisine > dinner lunch breakfast snack dessert pizza burger
recipe cook cooking bake baking > ingredient kitchen culinary dinner
drink beverage > cocktail wine beer coffee tea sake latte juice
grocery supermarket > ingredient
diet nutrition nutritional > calorie protein vitamin macronutrient carbohydrate
vegetarian vegan
# home and property
house home property apartment flat residence > condo villa bedroom
real_estate realty property housing > mortgage rent landlord tenant apartment realtor listing
rent rental lease > tenant landlord
furniture > sofa couch chair table
light lamp lighting bulb > dim brightness
smart_home home_automation > thermostat appliance lamp
temperature heat thermostat > celsius fahrenheit degree
clean cleaning housekeeping laundry > maid iron
repair fix maintenance
plant gardening garden > flower tree soil
# weather and nature
weather forecast meteorology meteorological > rain snow temperature humidity wind storm sunny
weather forecast meteorology meteorological > sunshine umbrella
climate > warming emission carbon
pollution air_quality > smog particulate
earthquake seismic quake > tremor magnitude
disaster emergency > flood hurricane wildfire earthquake
ocean sea marine > tide wave
animal wildlife > pet dog cat bird fish horse
pet > dog cat puppy kitten veterinary
space astronomy > star planet galaxy nasa satellite telescope orbit mars astronaut
energy electricity power > solar grid utility
# media
movie film cinema > actor director screening drama comedy thriller showtime imdb
show tv television series > episode season netflix anime streaming
video clip footage > youtube film reel tiktok
music song track tune audio > album artist playlist singer band lyric melody concert spotify
lyric lyrics
audio sound recording > voice podcast noise
podcast > episode
voice speech spoken speak > narration pronunciation vocal
speech_to_text transcription transcribe transcript > dictation subtitle caption
text_to_speech tts narration voiceover voice speak > read_aloud
read_out tts speech voice aloud
picture image photo photograph photography > graphic portrait illustration icon wallpaper selfie
draw drawing sketch illustration art > paint painting artwork doodle
art artwork painting > artist sculpture gallery museum
logo branding brand
design designer > layout template mockup figma
animation animate > gif
diagram chart graph flowchart visualization > plot mermaid
visualize visualise visualization visualisation plot chart graph
3d > model mesh blender render
color colour > palette hex rgb hue
font typeface typography
meme funny humor humour joke > comedy laugh pun
book novel ebook > author reading literature library fiction
library > book catalog
author writer > novelist
story tale fiction narrative > fable plot
poem poetry verse > haiku
quote quotation saying > inspirational motivational
news headline journalism press > article journalist breaking
article post blog > essay editorial
magazine newspaper publication
event events > concert festival show conference theater ticket
ticket tickets admission > concert event theater
theater theatre > broadway play musical
game gaming videogame > player puzzle chess quest multiplayer esports gamer
chess > checkmate
puzzle riddle > crossword sudoku trivia
trivia quiz > question
sport sports athletics > football soccer basketball baseball tennis hockey cricket golf rugby
sport sports athletics > league team nba nfl mlb
match fixture game > score
score result > standings
football soccer > premier league fifa
team club > league
player athlete > roster
cycling bike bicycle
# money
money finance financial > currency cash bank loan fund budget income
price cost fee pricing rate > cheap expensive quote fare
cheap affordable inexpensive budget > discount
stock stocks share shares equity equities securities > ticker nasdaq dividend portfolio shareholder
invest investment investing investor > portfolio fund stock trading
trade trading trader > broker market
market markets > stock trading
crypto cryptocurrency blockchain > bitcoin ethereum btc eth nft token wallet defi coin solana
crypto cryptocurrency blockchain > contract
wallet > balance
exchange_rate currency forex fx > dollar euro yen pound usd eur
currency exchange > dollar euro yen pound rupee usd eur gbp jpy
bank banking > account deposit
loan mortgage credit borrow lending > debt installment interest
pay payment paying > checkout billing invoice transaction charge stripe paypal card
invoice bill billing > receipt
receipt > expense
buy purchase shop shopping > order cart product store retail checkout
shop store retailer marketplace > ecommerce retail
ecommerce online_store > cart shopify
product item goods merchandise > sku inventory catalog
inventory stock warehouse
order ordering > checkout
discount coupon deal promotion sale > voucher promo bargain
gift present > birthday
tax taxes > vat irs deduction
accounting bookkeeping > ledger balance audit
salary wage pay compensation > income payroll
budget expense spending > saving
insurance > premium claim policy
donate donation charity nonprofit > fundraising volunteer
company business firm corporation enterprise organization organisation > startup corporate employer
startup > founder
customer client consumer > subscriber
sale sales selling sell > revenue lead crm prospect
crm > hubspot salesforce customer lead
lead prospect
marketing advertising advertisement advert ad > campaign promotion seo brand audience
seo search_engine_optimization > keyword backlink ranking
competitor rival competition
survey questionnaire poll form > feedback
review rating feedback opinion > reputation sentiment testimonial
shipping shipment delivery courier parcel package > tracking logistics freight carrier
track tracking > shipment
# work
job career employment work vacancy hiring > recruiter resume salary internship occupation interview
resume cv curriculum > cover_letter
hire hiring recruit recruiting recruitment > candidate applicant talent
employee staff worker personnel > hr payroll
meeting appointment call > conference attendee zoom
calendar schedule agenda planner > appointment event availability booking
reserve reservation booking book
reminder alarm alert > notification timer
alarm alert > wake
notification notify alert
task todo to_do > checklist reminder kanban jira
project > milestone issue task
note notes memo > notebook notion
contract agreement > clause
law legal lawyer attorney > court contract regulation statute litigation
regulation compliance regulatory > gdpr policy
patent trademark copyright intellectual_property
government public_sector > parliament election politician
election vote voting > ballot candidate
team collaboration > slack
chat conversation messaging talk > chatbot message
message sms text_message > whatsapp telegram chat
email mail inbox e-mail > gmail outlook newsletter
phone telephone mobile > call sms number
contact contacts > phone email
social_media social > twitter facebook instagram linkedin tiktok post reddit
tweet twitter > x
influencer creator
friend dating relationship > partner match
# people and health
person people human > individual
doctor physician medical clinic hospital > patient nurse surgeon
therapist therapy psychologist counselor counsellor psychiatrist counseling > mental_health
mental_health psychology > anxiety depression stress
health medical healthcare medicine clinical > disease symptom patient drug wellness
medicine drug medication pharmaceutical > prescription dosage pill
disease illness condition > cancer diabetes covid flu virus infection
symptom diagnosis > diagnose
covid coronavirus > vaccine
fitness workout exercise gym > training running yoga muscle
sleep > rest bedtime
pregnancy pregnant baby > infant
beauty cosmetics makeup skincare > hair salon hairstyle
hairdresser salon barber stylist > haircut
fashion clothing clothes apparel outfit > dress shirt shoe skirt pants wardrobe
jewelry jewellery > ring necklace
age birthday birth > born
horoscope astrology zodiac > tarot birth fate
fortune future astrology tarot > divination fate destiny
kid child children > toddler parent
family > parent
recommend recommendation suggest suggestion advise advice propose
idea inspiration > brainstorm
# learning and knowledge
learn learning study education educational > course lesson tutor school student teach
course class lesson tutorial > training curriculum
school university college academy > campus student
teacher tutor instructor > coach
student pupil
exam test quiz > ielts
flashcard > anki deck
memorize memorise flashcard > remember
language > english french spanish german chinese japanese vocabulary grammar
word vocabulary term > dictionary
dictionary definition meaning define > synonym thesaurus
grammar spelling proofreading > punctuation
translate translation translator > interpreter
research study paper academic scholarly scientific > literature journal publication arxiv pubmed
research study paper academic scholarly scientific > citation
paper papers publication literature > arxiv journal
citation reference bibliography
science scientific > physics chemistry biology
biology > gene protein dna cell species
gene genetic genome genomic dna > variant mutation
chemistry chemical > molecule compound reaction
physics > velocity force acceleration
math mathematics mathematical arithmetic > algebra equation calculus geometry calculate
calculate calculation compute calculator > sum formula
statistic statistics statistical > average mean probability regression
history historical > war ancient
encyclopedia wikipedia
fact facts information info detail details knowledge
question answer faq q_a
holiday holidays > christmas
religion bible quran > prayer church verse
# text and documents
document documents doc file > pdf word docx report page
pdf document
spreadsheet excel xlsx > csv sheet workbook
presentation slide slides powerpoint pptx > deck
summary summarize summarise summarization abstract > digest brief tldr
write writing compose > draft essay copywriting author
rewrite paraphrase rephrase
plagiarism > original
ocr scan > handwriting
template boilerplate
form questionnaire
signature sign esign > docusign
print printing printer
markdown md
text string > word sentence paragraph
sentiment emotion mood feeling
keyword keywords
# computing
code coding programming program software developer > python javascript java function repository
code coding programming program software developer > debug
repository repo git > github gitlab commit branch
github repository > pull_request issue
bug error defect > debug issue exception
debug debugging troubleshoot > bug error
test testing > unit coverage qa
deploy deployment release > ci pipeline
server hosting host > cloud vps
cloud > aws azure gcp
container docker > kubernetes pod
kubernetes k8s > pod cluster
website web webpage site page url > html domain browser
url link links address web_address
web_address url link
shorten short shortener > tinyurl
browser > chrome web
scrape scraping crawl crawler > extract
domain > whois dns
whois domain > registrar registration owner
dns > domain nameserver
ip > geolocation
geolocation ip_location > ip
network networking > router wifi ip packet
security cybersecurity > vulnerability malware threat firewall exploit
vulnerability security_hole cve exploit > weakness
malware virus > threat
hacker breach leak
password credential login > authentication
encrypt encryption cipher > decrypt
hash checksum digest
certificate ssl tls > expiry
qr qr_code barcode
barcode > upc ean
database db sql > query table postgres mysql sqlite mongodb schema
sql query > database
data dataset > csv table
analytics analysis insight > dashboard metrics
dashboard report > metric
metric metrics measurement > kpi
log logs logging > trace
monitor monitoring uptime > alert watch
performance speed > latency benchmark
api endpoint rest > integration
json xml yaml > schema
regex pattern
random > dice
uuid guid
unit units measurement > kilogram meter mile conversion
time clock timezone > hour date
date day calendar > week month
ai llm artificial_intelligence > gpt chatgpt openai model claude
model models
agent bot assistant chatbot
prompt prompts
image_generation > dall midjourney diffusion
machine_learning ml > training classification neural
device devices iot sensor > gadget hardware
robot robotics > drone
hardware > gpu cpu memory
app application software > plugin
plugin extension addon
user users account profile > member
backup restore > snapshot
memory remember > recall
folder directory > file
file files > upload download
download downloader
upload uploader
add insert append
predict prediction forecast estimate
filter filtering
sort rank order
start begin launch
stop end terminate cancel
cancel cancellation
play playback > listen watch
listen hear play > audio music
watch view > video
popular trending trend trends top best > viral
latest recent current newest new up_to_date live realtime today now
history log
place_eat restaurant dining
place_stay hotel accommodation
health_problem symptom diagnosis
phone_call telephone call
error_message error bug
user_interface ui frontend
source_code code repository
web_search search internet
to_do todo task
pull_request merge review
credit_card card payment
driving_license licence
point_interest attraction landmark sightseeing
attraction landmark > museum monument
weather_station weather
speech_recognition transcription
spoken_language speech
sign_language language
machine_learning ml model
"""
# How much of a word's weight a related word earns: an equal one, a kind of it, and what it is a
# kind of.
EQUAL, NARROWER, BROADER = 0.5, 0.3, 0.3
SAME_OPERATION = 0.6


class Thesaurus:
    """RELATED, ready to be asked. A line is read when one of its words is asked for."""

    def __init__(self):
        # By first letters: (word or phrase, line, whether it stands behind ">").
        self.entries = {}
        for line in RELATED.split("\n"):
            if line and line[0] != "#":
                equal, _, kinds = line.partition(">")
                for side in (equal, kinds):
                    for word in side.split():
                        self.entries.setdefault(word[:FIRST_LETTERS], []).append(
                            (word, line, side is kinds))

    def related(self, *terms):
        """A dict from related stem to quality, for one stem or for the stems of a phrase."""
        found = {}
        for word, line, is_kind in self.entries.get(terms[0][:FIRST_LETTERS], ()):
            if ("_" in word) == (len(terms) > 1) and stems_of(word) == terms:
                equal, _, kinds = line.partition(">")
                for side, quality in (((equal, BROADER),) if is_kind
                                      else ((equal, EQUAL), (kinds, NARROWER))):
                    for other in map(stems_of, side.split()):
                        if len(other) == 1 and other != terms:
                            found[other[0]] = max(quality, found.get(other[0], 0.0))
        return found


FIRST_LETTERS = 3


@lru_cache(maxsize=None)
def stems_of(word):
    """The stems of a word of RELATED, or of a phrase joined by "_", as a tuple."""
    return tuple(map(stem, word.split("_")))


THESAURUS = []


def thesaurus():
    """The one Thesaurus, read on first use: the baseline does not need it."""
    if not THESAURUS:
        THESAURUS.append(Thesaurus())
    return THESAURUS[0]


################ Reading a query

# The weight in a clause of what a directory lists ("agent") and of operations that say little.
LITTLE = 0.3
# Stems of words that tell when, where, in which language or how good: few listings hold them, and
# they can do the task all the same.
DETAILS = frozenset(map(stem, """
today tomorrow yesterday tonight now soon next last week weeks weekend month months year years day
days hour hours minute minutes morning afternoon evening night midnight noon monday tuesday
wednesday thursday friday saturday sunday january february march april june july august september
october november december spring summer autumn winter cheap cheapest cheaply affordable inexpensive
good best better great nice quick quickly fast faster easy easily simple simply automatically
instantly big small new newest latest recent popular favorite favourite nearby upcoming whole entire
various different specific certain particular english french german spanish italian portuguese dutch
swedish danish norwegian finnish polish russian ukrainian czech greek turkish arabic hebrew persian
hindi bengali urdu chinese mandarin japanese korean vietnamese thai indonesian swahili latin africa
america asia europe european antarctica argentina australia austria belgium brazil canada chile
china colombia croatia denmark egypt england finland france germany greece hungary iceland india
indonesia iran iraq ireland israel italy japan kenya korea malaysia mexico morocco netherlands
norway pakistan peru philippines poland portugal romania russia scotland singapore spain sweden
switzerland taiwan thailand turkey uk ukraine usa vietnam wales amsterdam athens atlanta auckland
bangkok barcelona beijing berlin bogota boston brussels budapest cairo chicago copenhagen dallas
delhi denver dubai dublin edinburgh florence frankfurt geneva hamburg helsinki houston istanbul
jakarta kyoto lagos lima lisbon london madrid manila melbourne miami milan montreal moscow mumbai
munich nairobi oslo osaka paris prague rome seattle seoul shanghai stockholm sydney tokyo toronto
vancouver venice vienna warsaw washington york zurich
""".split()))
# A word in front of these, where a request begins, is a verb: "water my plants".
DETERMINERS = frozenset("a an the my our your this that these those all some every".split())
# Words that begin another part of a request.
CONNECTING = frozenset("additionally also then finally lastly furthermore moreover afterwards "
                       "afterward next plus".split())
# What follows is ruled out, to the end of the clause: always, or behind a comma or "but".
RULES_OUT_ALWAYS = frozenset("without except excluding".split())
RULES_OUT = frozenset("not never no don't doesn't".split()) | RULES_OUT_ALWAYS
RULED_OUT_LENGTH = 6
# What stands behind these tells how or where, once the clause has named what: it weighs less.
PREPOSITIONS = frozenset("in into about for from on at near with during between around by using"
                         .split())
ARGUMENT_SHARE = 0.75
# And still less behind these, which tell where or when it is to happen: "hotels near the beach".
CIRCUMSTANCES = frozenset("near at during between around".split())
CIRCUMSTANCE_SHARE = 0.4
# So does what an operation is done to that says enough by itself.
BESIDE_TELLING = 0.5
# In a query of so few words a noun at the end of a name may be the operation: "code review".
TERSE = 7
# A longer word is no compound of two.
LONG_WORD = 40
# Quality of the word that a phrase stands for, as "study cards" for "flashcard".
PHRASE = 0.8
# Words that share so many first letters, and differ by so few others, are taken for one family.
FAMILY, FAMILY_LETTERS, FAMILY_ENDING = 0.5, 6, 4


class Concept:
    """One thing a query asks for: `forms` maps the terms that stand for it to a quality, 0 to 1.

    The operation that a verb means is a term of its own, written with "+": "+generate". It is not
    `sure` where the word may be a noun; then it rules nothing out. It `tells` enough where nothing
    that it is done to has to be found. `at` is its place in the query.
    """

    __slots__ = ("word", "term", "forms", "operation", "share", "sure", "tells", "at")

    def __init__(self, word, term, operation=None, sure=True, at=0):
        self.word, self.term, self.operation, self.sure = word, term, operation, sure
        self.forms, self.tells, self.at = {term: 1.0}, False, at
        self.share = LITTLE if (term in DIRECTORY_WORDS or term in DETAILS
                                or operation in ANY_OPERATION) else 1.0

    def is_object(self):
        """Whether this is something that an operation is done to."""
        return self.operation is None and self.term not in DIRECTORY_WORDS


class Query:
    """A query as it was understood.

    `constraints` are the requirements stated in words and `phrases` the words that state them,
    `clauses` lists of Concepts, `ruled_out` Concepts, `directions` pairs of terms (from, to), and
    `length` the number of words outside constraints. `known` holds the terms of a directory; with
    it, compound words are read as they are spelt there.
    """

    def __init__(self, text, known=frozenset()):
        self.known = known
        tokens = [token.replace("’", "'") for token in TOKEN.findall(text)]
        words = self.words = [token.lower() for token in tokens]
        reader = ConstraintReader(words)
        self.constraints, self.phrases = reader.constraints, reader.phrases
        self.clauses, self.ruled_out, self.directions, self.length = [[]], [], [], 0
        ruling, before, kept, share = 0, None, set(), 1.0
        for at, (token, word) in enumerate(zip(tokens, words)):
            following = words[at + 1] if at + 1 < len(words) else ""
            if at in reader.taken:
                before, ruling = None, 0
                continue
            self.length += word[0].isalnum()
            if word in ENDINGS or (word, following) == (",", "and") or (
                    word in CONNECTING and (word != "next" or before in (None, ",", "and"))):
                if self.clauses[-1]:
                    self.clauses.append([])
                before, ruling, share = None, 0, 1.0
            elif word in ",()":
                before, ruling = ",", 0
            elif word in RULES_OUT_ALWAYS or (word, following) in (
                    ("instead", "of"), ("rather", "than")) or (
                    word in RULES_OUT and at and before in (None, ",", "but", "and")):
                before, ruling = "to", RULED_OUT_LENGTH
            elif ruling and word != "but":
                ruling -= 1
                self.ruled_out += self.concepts(at, token, before)
                before = word
            else:
                ruling = 0
                kept.add(at)
                if word in PREPOSITIONS and any(
                        concept.is_object() for concept in self.clauses[-1]):
                    share = CIRCUMSTANCE_SHARE if word in CIRCUMSTANCES else ARGUMENT_SHARE
                for concept in self.concepts(at, token, before):
                    concept.share *= share
                    self.clauses[-1].append(concept)
                before = word
        for clause in self.clauses:
            if any(concept.operation in TELLING_OPERATIONS for concept in clause) and (
                    MEDIA.isdisjoint(concept.term for concept in clause)):
                for concept in clause:
                    concept.tells = concept.operation in TELLING_OPERATIONS
                    concept.share *= BESIDE_TELLING if concept.is_object() else 1.0
        self.read_directions(kept)
        clauses = [clause for clause in self.clauses if clause]
        # "Only agents" beside a task is no task.
        self.clauses = [clause for clause in clauses if any(
            concept.term not in DIRECTORY_WORDS for concept in clause)] or clauses

    def concepts(self, at, token, before):
        """The concepts of one token: one for each part of a name, none for a function word."""
        word = self.words[at]
        operation = operation_of(word, None if before == "," else before)
        if word == "turn" and "into" not in self.words[at:]:
            operation = None  # "turn the lights off" converts nothing.
        terms = terms_of(token)
        sure = True
        following = self.words[at + 1] if at + 1 < len(self.words) else ""
        if (word, following) == ("back", "up"):
            operation, terms = "archive", ["back"]
        elif operation is None and len(terms) == 1 and terms[0] in UNCLEAR_OPERATIONS and (
                before and before not in FUNCTION_WORDS and before[0].isalnum()
                and not terms_of(following) and len(self.words) <= TERSE):
            operation, sure = UNCLEAR_OPERATIONS[terms[0]], False  # "code review for a team"
        if operation is None and before is None and len(terms) == 1 and (
                self.words[at + 1:at + 2] and self.words[at + 1] in DETERMINERS):
            operation = unknown_operation(terms[0])
        if len(terms) == 3 and terms[2].startswith(terms[0]):
            terms = terms[2:] if terms[2] in self.known else terms[:2]
        elif len(terms) == 1 and terms[0] not in self.known and terms[0] not in DETAILS:
            terms = self.halves(word) or terms
        return [Concept(word, term, operation, sure, at) for term in terms]

    def halves(self, word):
        """The two known stems that an unknown word is made of, as in "webpage"; else None."""
        for at in range(3, len(word) - 2 if len(word) < LONG_WORD else 0):
            first, second = word[:at], stem(word[at:])
            if first in self.known and second in self.known:
                return [first, second]
        return None

    def read_directions(self, kept):
        """None; notes pairs of the task's terms with "to" between them, such as (markdown, pdf)."""
        terms = [terms_of(word)[-1:] if at in kept else [] for at, word in enumerate(self.words)]
        for at, word in enumerate(self.words):
            if word in ("to", "into", "from") and at:
                after = [term for found in terms[at + 1:at + 4] for term in found][:1]
                for found in terms[max(0, at - 2):at]:
                    self.directions += [(one, other) if word != "from" else (other, one)
                                        for one in found for other in after]
            joined = INTO.fullmatch(word)
            if joined and at in kept:
                self.directions.append(tuple(map(stem, joined.groups())))


def relate(clause, family):
    """None; gives the concepts of a clause further forms: operations, related and joined words.

    `family(term)` gives the directory's other terms that begin as a term does.
    """
    related = thesaurus()
    own = {concept.term for concept in clause}
    for concept in clause:
        forms = concept.forms
        if not concept.operation or concept.term not in UNCLEAR_OPERATIONS:
            forms.update(related.related(concept.term))
        for term in family(concept.term):
            forms.setdefault(term, FAMILY)
        for term in own.intersection(forms) - {concept.term}:
            del forms[term]  # One word of a listing answers one concept.
        if concept.operation:
            forms["+" + concept.operation] = SAME_OPERATION
    for first, second in zip(clause, clause[1:]):
        phrase = related.related(first.term, second.term)
        for concept in (first, second):
            if second.at <= first.at + 1:  # "Lighthouse" holds no "lights in the house".
                concept.forms.setdefault(first.term + second.term, 1.0)
            for term in phrase:
                concept.forms[term] = max(PHRASE, concept.forms.get(term, 0.0))


def needed_coverage(words):
    """The share of a clause's weight that a listing must cover, by the number of the query's words.

    Half of a terse request, in which every word counts; less of a long one, which says much
    besides the capability. The words of constraints are not counted.
    """
    return max(0.05, min(0.5, 0.5 - 0.07 * (words - 6)))


################ Reading a listing

# Behind these words a listing denies what it says, to the end of the sentence or at most so far.
DENIERS = frozenset("""
not no without never cannot can't doesn't don't isn't aren't won't neither nor excluding except
unlike instead rather non unable
""".split())
DENIAL_LENGTH = 12
# Behind these only to the comma; the others go on through a list: "does not create, edit or merge".
DENIES_TO_COMMA = frozenset("without no unlike instead excluding except rather non".split())
# "not only", "no more", "not just", "no matter": nothing is denied.
DENIES_NOTHING = frozenset("only just more matter longer limited problem need doubt".split())
DENIAL_ENDS = frozenset("but however only".split())
# "Creating PDFs is not supported" denies what stands in front.
DENIED_BEHIND = frozenset("supported possible available offered included provided planned".split())
# In a stream of term numbers: the end of a part of the listing.
BREAK = 0


class Vocabulary:
    """Numbers for terms, and what each raw token becomes."""

    def __init__(self):
        self.numbers = {"": BREAK}
        self.tokens = {}
        # Tokens at which reading has to stop and think, as lower-case words: marks, deniers, and
        # words that are operations only where a verb stands.
        self.special = {}

    def number(self, term):
        """The number of a term, a new one when it is new."""
        return self.numbers.setdefault(term, len(self.numbers))

    def learn(self, token):
        """The numbers of a new token, noted in `tokens`; None for one at which reading must stop.

        That is noted in `special`. An operation that the token always means has a number of its
        own beside that of its word.
        """
        word = token.lower().replace("’", "'")
        if word in DENIERS or token in ENDINGS or token == ",":
            self.special[token] = (word, (), None)
            return None
        terms = terms_of(token)
        operation = terms and CLEAR_OPERATIONS.get(terms[0])
        if terms and not operation and terms[0] in UNCLEAR_OPERATIONS:
            operation = UNCLEAR_OPERATIONS[terms[0]]
            if len(terms) == 1 and (not word.endswith("ing") or word in ING_NOUNS):
                self.special[token] = (word, (self.number(terms[0]),),
                                       self.number("+" + operation))
                return None
        if operation:
            terms.append("+" + operation)
        numbers = self.tokens[token] = tuple(map(self.number, terms))
        return numbers

    def read(self, text, stream, denied, before=None, sentences=False, name=False):
        """None; appends the numbers of a text to `stream`, and those that it denies to `denied`.

        `before` is "" where no verb can start the text; with `sentences` a BREAK ends each; the
        last word of a `name` may be an operation, as in "Payment check".
        """
        known, special = self.tokens, self.special
        target, denying, to_comma, start = stream, 0, False, len(stream)
        tokens = (ASCII_TOKEN if text.isascii() else TOKEN).findall(text)
        explains = "how" in tokens  # Who "explains how to create" does not create.
        for at, token in enumerate(tokens):
            numbers = known.get(token)
            if numbers is None and token not in special:
                numbers = self.learn(token)
            if numbers is not None:
                if denying:
                    denying -= 1
                    if not denying or token in DENIAL_ENDS or (
                            before == "not" and token in DENIES_NOTHING):
                        target, denying = stream, 0
                if explains and before == "to" and len(numbers) > 1 and (
                        tokens[at - 2:at - 1] == ["how"]):
                    numbers = numbers[:-1]
                target += numbers
                before = token
                continue
            word, numbers, operation = special[token]
            if operation is not None:
                target += numbers
                if (before is None or before in BEFORE_VERB) and (
                        not word.startswith("turn") or "into" in tokens) and (
                        before != "to" or tokens[at - 2:at - 1] != ["how"]):
                    target.append(operation)
                before = token
            elif token == ",":
                before = None
                if to_comma:
                    target, denying, to_comma = stream, 0, False
            elif token in ENDINGS:
                target, denying, before, to_comma, start = stream, 0, None, False, len(stream)
                if sentences and stream and stream[-1] != BREAK:
                    stream.append(BREAK)
            elif tokens[at + 1:at + 2] and tokens[at + 1] in DENIED_BEHIND:
                denied += stream[start:]
                del stream[start:]
            else:
                target, denying, before = denied, DENIAL_LENGTH, "not"
                to_comma = word in DENIES_TO_COMMA
        if name and len(tokens) > 1 and tokens[-1] in special and target is stream and (
                tokens[-2] not in FUNCTION_WORDS and special[tokens[-1]][2] is not None):
            stream.append(special[tokens[-1]][2])


################ The index

# Field weights, and the number of terms at which a field counts at par; LENGTH_SHARE of a weight
# shrinks with the field's length (the b of BM25F), SATURATION is its k1.
NAME_WEIGHT, NAME_LENGTH = 3.0, 3
TAG_WEIGHT, TAG_LENGTH = 1.0, 5
DESCRIPTION_WEIGHT, DESCRIPTION_LENGTH = 1.0, 12
SKILL_NAME_WEIGHT, SKILL_NAME_LENGTH = 1.2, 3
SKILL_TEXT_WEIGHT, SKILL_TEXT_LENGTH = 0.4, 12
LENGTH_SHARE = 0.6
SATURATION = 1.2


def add_terms(weights, numbers, weight, usual_length):
    """None; adds a field's terms to `weights`, each less in a field longer than usual."""
    weight /= 1 - LENGTH_SHARE + LENGTH_SHARE * len(numbers) / usual_length
    for number in numbers:
        weights[number] = weights.get(number, 0.0) + weight


def field(numbers, weight, usual_length):
    """(weight, numbers): what one mention in a skill's field is worth, and the field's terms."""
    return weight / (1 - LENGTH_SHARE + LENGTH_SHARE * len(numbers) / usual_length), numbers


MOST_SKILLS_KNOWN = 50_000
PHRASE_TIERS = ("card name", "skill name or description", "tag", "card description")


def phrase_fields(listing):
    """The text of each of PHRASE_TIERS without regard to case, its parts on lines of their own."""
    card = dict_of(listing.get("card"))
    skills = dicts_of(card.get("skills"))
    return tuple("\n".join(parts).casefold() for parts in (
        [text_of(card.get("name"))],
        [text_of(skill.get(key)) for skill in skills for key in ("name", "description")],
        [tag for owner in (listing, *skills) for tag in texts_of(owner.get("tags"))],
        [text_of(card.get("description"))]))


class CapabilityIndex:
    """A directory, read once and searched many times.

    `listings` is a list of listings, dicts in the form that the README describes, and `now` an
    aware datetime: the clock against which observations age. Neither is changed. Raises SearchError
    for a clock without an offset, and for a listing that is no dict or whose id is missing,
    repeated or of another kind than the first.
    """

    def __init__(self, listings, now):
        if getattr(now, "tzinfo", None) is None:
            raise SearchError(f"now: must be a datetime with an offset, not {now!r}")
        self.listings = list(listings)
        self.ids = checked_ids(self.listings)
        self.facts, faults = [], []
        for place, listing in enumerate(self.listings):
            try:
                self.facts.append(located(f"listings[{place}]", Facts, listing, now))
            except SearchError as error:
                faults.append(str(error))
        if faults:
            raise SearchError("\n".join(faults))
        self.vocabulary = Vocabulary()
        # By term number: the places of the listings that hold the term, and its impact there.
        self.postings = []
        # By place: the term numbers in reading order with a BREAK behind the name, the tags, each
        # sentence and each skill; which of these parts is the first skill; how many terms the
        # description has; and, where there are any, the terms that are only denied.
        self.streams, self.first_skill, self.prose_length = [], array("I"), array("I")
        self.denied, self.skills = {}, {}
        collecting = gc.isenabled()
        gc.disable()  # Many small containers and no cycles: collecting would take a sixth of it.
        try:
            for place, listing in enumerate(self.listings):
                self.read_listing(place, listing)
        finally:
            if collecting:
                gc.enable()
        del self.skills  # Only reading needs it.
        # Among otherwise equal listings: signed first, newest first, lowest id first.
        self.standing = [0] * len(self.listings)
        for rank, place in enumerate(sorted(range(len(self.listings)), key=lambda place: (
                not self.facts[place].signed, -self.facts[place].listed, self.ids[place]))):
            self.standing[place] = rank
        # Made when first needed: texts for the baseline, first letters, rows of eligible listings.
        self.phrase_fields, self.families, self.eligible_rows = None, None, {}

    def read_listing(self, place, listing):
        """None; reads one listing into its stream and into the postings of its terms."""
        card = dict_of(listing.get("card"))
        vocabulary, stream, denied, weights = self.vocabulary, [], [], {}
        vocabulary.read(text_of(card.get("name")), stream, denied, name=True)
        add_terms(weights, stream, NAME_WEIGHT, NAME_LENGTH)
        stream.append(BREAK)
        start = len(stream)
        for tag in texts_of(listing.get("tags")):
            vocabulary.read(tag, stream, denied, before="")
        add_terms(weights, stream[start:], TAG_WEIGHT, TAG_LENGTH)
        stream.append(BREAK)
        start = len(stream)
        vocabulary.read(text_of(card.get("description")), stream, denied, sentences=True)
        if stream[-1] != BREAK:
            stream.append(BREAK)
        add_terms(weights, stream[start:], DESCRIPTION_WEIGHT, DESCRIPTION_LENGTH)
        self.prose_length.append(len(stream) - start)
        self.first_skill.append(stream.count(BREAK))
        fields, best = [], {}
        for skill in dicts_of(card.get("skills")):
            numbers, denied_numbers, fields_of_skill = self.read_skill(skill)
            stream += numbers
            denied += denied_numbers
            fields += fields_of_skill
            stream.append(BREAK)
        # The best mention counts, not the sum of all: a long list of skills earns nothing.
        for weight, numbers in sorted(fields, key=itemgetter(0)):
            best.update(dict.fromkeys(numbers, weight))
        for number, weight in best.items():
            weights[number] = weights.get(number, 0.0) + weight
        self.streams.append(tuple(stream))
        if denied:
            self.denied[place] = frozenset(denied).difference(stream)
        weights.pop(BREAK, None)
        postings = self.postings
        for _ in range(len(vocabulary.numbers) - len(postings)):
            postings.append((array("I"), array("f")))
        for number, weight in weights.items():
            places, impacts = postings[number]
            places.append(place)
            impacts.append(weight / (SATURATION + weight))

    def read_skill(self, skill):
        """(numbers, denied numbers, fields) of a skill.

        There are many copies in a directory, so a skill that was read is remembered for a while.
        """
        name, description = text_of(skill.get("name")), text_of(skill.get("description"))
        tags = tuple(texts_of(skill.get("tags")))
        known = self.skills.get((name, description, tags))
        if known is None:
            if len(self.skills) >= MOST_SKILLS_KNOWN:
                self.skills.clear()
            known = self.skills[name, description, tags] = self.read_new_skill(
                name, description, tags)
        return known

    def read_new_skill(self, name, description, tags):
        """(numbers, denied numbers, fields) of a skill's texts."""
        read, numbers, denied = self.vocabulary.read, [], []
        read(name, numbers, denied, name=True)
        behind_name = len(numbers)
        read(description, numbers, denied)
        behind_text = len(numbers)
        for tag in tags:
            read(tag, numbers, denied, before="")
        return numbers, denied, (
            field(numbers[:behind_name], SKILL_NAME_WEIGHT, SKILL_NAME_LENGTH),
            field(numbers[behind_name:behind_text], SKILL_TEXT_WEIGHT, SKILL_TEXT_LENGTH),
            field(numbers[behind_text:], TAG_WEIGHT, TAG_LENGTH))

    def eligible(self, *requirements):
        """A row with a 1 for each listing that satisfies all the requirements; None for all."""
        rows = []
        for key, value in [item for part in requirements for item in part.items()]:
            name = (key, repr(value))
            if name not in self.eligible_rows:
                if len(self.eligible_rows) >= MOST_ROWS:
                    self.eligible_rows.clear()
                holds = REQUIREMENTS[key][2]
                self.eligible_rows[name] = bytes(bool(holds(facts, value)) for facts in self.facts)
            rows.append(self.eligible_rows[name])
        if len(rows) < 2:
            return rows[0] if rows else None
        return bytes(map(all, zip(*rows)))

    def family(self, term):
        """The directory's other terms that share a term's first letters."""
        if len(term) < FAMILY_LETTERS:
            return []
        if self.families is None:
            self.families = {}
            for other in self.vocabulary.numbers:
                if len(other) >= FAMILY_LETTERS:
                    self.families.setdefault(other[:FAMILY_LETTERS], []).append(other)
        return [other for other in self.families.get(term[:FAMILY_LETTERS], ())
                if other != term
                and max(len(term), len(other)) <= FAMILY_LETTERS + FAMILY_ENDING]

    def are_copies(self, *places):
        """Whether the texts of two listings below their names are so much alike."""
        shorter, longer = sorted((self.streams[place] for place in places), key=len)
        if not COPY_LENGTH <= COPY_LIKENESS * len(longer) <= len(shorter):
            return False
        one, other = (frozenset(stream[stream.index(BREAK):]) for stream in (shorter, longer))
        return len(one & other) >= COPY_LIKENESS * len(one | other)

    def publisher(self, place):
        """The publisher's name, "" when the listing names none."""
        return text_of(self.listings[place].get("publisher"))

    # -- baseline

    def baseline(self, query, requirements=None, limit=None):
        """Ids of the listings that hold the whole query as one phrase, best field first.

        The query, with its white space made single spaces and without regard to case, has to occur
        in a card name, a skill name or description, a tag, or the card's description: the tiers
        in this order. Inside a tier publishers rotate: each one's first, each one's second, ...,
        where a publisher's own order, and the order inside a round, is signed first, newest first,
        lowest id first. An empty query matches nothing. Raises SearchError for bad arguments.
        """
        requirements = checked_requirements(requirements)
        most = checked_limit(limit)
        phrase = " ".join(checked_query(query).split()).casefold()
        allowed = self.eligible(requirements)
        if self.phrase_fields is None:
            self.phrase_fields = [phrase_fields(listing) for listing in self.listings]
        tiers = [[] for _ in PHRASE_TIERS]
        for place, fields in enumerate(self.phrase_fields if phrase else ()):
            if allowed is None or allowed[place]:
                for tier, text in zip(tiers, fields):
                    if phrase in text:
                        tier.append(place)
                        break
        return [self.ids[place] for tier in tiers for place in self.in_turn(tier)][:most]

    def in_turn(self, places):
        """The places with each publisher's first in front, then each one's second, and so on."""
        turns, keyed = {}, []
        for place in sorted(places, key=self.standing.__getitem__):
            publisher = self.publisher(place)
            turn = turns[publisher] = turns.get(publisher, 0) + 1
            keyed.append((turn, self.standing[place], place))
        return [place for _, _, place in sorted(keyed)]

    # -- recommendation

    def recommend(self, query, requirements=None, limit=None):
        """Listings that declare the task, best first, with the reasons for each.

        Returns {"interpretation": {...}, "items": [{"id", "score", "matched_skills",
        "matched_terms", "reasons"}, ...]}: at most `limit` items, and never more than CLOSE_LOOKS.
        `requirements` are explicit evidence filters; those that the query states in words are
        added. Raises SearchError for bad arguments.
        """
        explicit = checked_requirements(requirements)
        most = checked_limit(limit)
        search = Search(self, Query(checked_query(query), self.vocabulary.numbers), explicit)
        return {"interpretation": search.interpretation(),
                "items": [search.item(match) for match in search.ranked()[:most]]}


################ One search

# How many listings are looked at closely: those with the greatest sum of term values.
CLOSE_LOOKS = 32
MOST_ROWS = 64
# A related form in more than so many listings, and so many times as many as the word itself, is
# too common to stand for it.
FEW_PLACES, MORE_COMMON = 50, 2
# A query whose words stand in more places than this, all told, spares itself the longest lists.
LONG_POSTINGS = 20000
# An unknown word is as telling as the rarest known one, less what it may be: a name or a value.
UNKNOWN_SHARE = 0.5
# What a match keeps that is spread over several skills; whose skills state no operation or a near
# one; and, in a long request, another one.
SPREAD_SHARE, UNSTATED_SHARE, OTHER_SHARE = 0.7, 0.85, 0.5
# In a description of more terms than this, beside declared skills, things are said in passing: a
# word counts for less there, and so does an operation in any description beside skills.
PROSE_LENGTH, PROSE_LEAST, PROSE_OPERATION = 30, 0.3, 0.6
# In a request of so few concepts, a match that covers less than this share of what the best one
# covers is no match beside it; and contradictions rule a listing out.
SHORT_REQUEST, BESIDE_BEST = 6, 0.65
# How the whole request counts beside its best clause, and what a clause keeps once it is served;
# so many results are chosen that way.
WHOLE_SHARE, SERVED_SHARE, CHOSEN = 0.5, 0.6, 20
# Matches within a tenth of the best of them are comparable.
COMPARABLE = 0.9
# A part that holds the word of an operation, or so close a relative, states the operation.
STATED = 0.5
# A clause names so many skills at most that answer it equally well.
MOST_SKILLS = 3
# A listing is a copy of another if both answer the query alike, are so long, and share so much of
# all their terms below the name. It keeps so much of its score; the next copy, that of that.
COPY_LENGTH, COPY_LIKENESS, COPY_SHARE = 20, 0.8, 0.8
OPERATION_NAMES = sorted({*CLEAR_OPERATIONS.values(), *UNCLEAR_OPERATIONS.values()})


class Part:
    """A part of a listing: 0 its name, 1 its tags, then sentences of its description, then skills.

    `concepts` maps the query's terms that it answers to how well, 0 to 1.
    """

    __slots__ = ("number", "concepts", "operations", "ruled_out")

    def __init__(self, number):
        self.number = number
        self.concepts, self.operations, self.ruled_out = {}, set(), set()


class Match:
    """How one listing answers a query: `strengths` by clause, `skills` the numbers of the best."""

    __slots__ = ("place", "concepts", "score", "whole", "covered", "qualifies", "strengths",
                 "skills", "notes")

    def __init__(self, place, concepts):
        self.place, self.concepts = place, concepts
        self.score, self.whole, self.covered, self.qualifies = 0.0, 0.0, 0.0, False
        self.strengths, self.skills, self.notes = [], [], []


def keep_best(target, concepts):
    """None; raises the values in `target` to those in `concepts`."""
    for term, value in concepts.items():
        if value > target.get(term, 0.0):
            target[term] = value


def credit(form, quality):
    """How much of a concept a form covers: an operation all of it, a distant relative a little."""
    return 1.0 if form.startswith("+") else quality if quality < 0.5 else quality ** 0.5


def strongest(totals, most):
    """The keys of the `most` highest values, in order."""
    if len(totals) > most:
        from heapq import nlargest
        floor = nlargest(most, totals.values())[-1]
        totals = [key for key, value in totals.items() if value >= floor]
    return sorted(totals)


DIRECTION = re.compile(r"[^\W_]+|[.;:!?](?=\s|$)")
DIRECTION_WORDS = frozenset(["to", "into", "from"])


@lru_cache(maxsize=20_000)
def last_term(token):
    """The last stem of a token, None for none."""
    return (terms_of(token) or [None])[-1]


def directions_in(text):
    """[(word, stems in front, stems behind)] of each "to", "into", "from"; two, nearest first."""
    tokens = DIRECTION.findall(INTO.sub(r"\1 to \2", text))
    found = []
    for at, token in enumerate(tokens):
        if token in DIRECTION_WORDS:
            sides = [[last_term(one) for one in side] for side in (
                tokens[max(0, at - 2):at][::-1], tokens[at + 1:at + 3])]
            found.append((token, *sides))
    return found


def goes(one, other, directions):
    """Whether a text goes from one term to the other; None is any word.

    One more word may stand behind a term, as in "speech audio from text".
    """
    for word, left, right in directions:
        start, end = (other, one) if word == "from" else (one, other)
        near = right if one and other else right[:1]
        if (start in left if start else left) and (end in near if end else near):
            return True
    return False


class Search:
    """One query against one index."""

    def __init__(self, index, query, explicit):
        self.index, self.query, self.explicit = index, query, explicit
        self.concepts, self.clauses = {}, []
        for clause in query.clauses:
            relate(clause, index.family)
            for concept in clause:
                self.concepts.setdefault(concept.term, concept)
            self.clauses.append(list(dict.fromkeys(concept.term for concept in clause)))
        self.weights = {term: self.weight(concept) for term, concept in self.concepts.items()}
        self.wholes = [math.fsum(self.weights[term] for term in clause) for clause in self.clauses]
        self.objects = {term for term, concept in self.concepts.items() if concept.is_object()}
        self.needed = needed_coverage(query.length)
        self.converts = any(concept.operation == "convert" for concept in self.concepts.values())
        self.short = len(self.clauses) == 1 and len(self.clauses[0]) <= SHORT_REQUEST
        self.values = {}
        self.prepare_looks()

    # -- weights

    def found_in(self, term):
        """The number of listings that hold a term."""
        number = self.index.vocabulary.numbers.get(term, BREAK)
        return len(self.index.postings[number][0]) if number < len(self.index.postings) else 0

    def rarity(self, term):
        """How telling a term is: ln(1 + (N - n + 0.5) / (n + 0.5)), as in BM25; None if unknown."""
        found = self.found_in(term)
        if not found:
            return None
        return math.log(1 + (len(self.index.listings) - found + 0.5) / (found + 0.5))

    def weight(self, concept):
        """What a concept weighs in its clause: the rarity of its operation, word or best form."""
        rarity = self.rarity("+" + concept.operation) if concept.operation else None
        if rarity is None:
            rarity = self.rarity(concept.term)
        if rarity is None:
            known = [value for value in map(self.rarity, concept.forms) if value is not None]
            rarity = max(known) if known else (
                UNKNOWN_SHARE * math.log(1 + (len(self.index.listings) + 0.5) / 1.5))
        return rarity * concept.share

    # -- candidates

    def postings(self, concept):
        """The (places, impacts, worth) of a concept's forms; a form is worth quality × rarity.

        Left out are forms far more common than the word itself: they would drown it.
        """
        found = []
        own = self.rarity(concept.term)
        most = max(FEW_PLACES, MORE_COMMON * self.found_in(concept.term)) if own else math.inf
        for term, quality in concept.forms.items():
            rarity = self.rarity(term)
            if rarity is not None and (self.found_in(term) <= most or term == concept.term):
                places, impacts = self.index.postings[self.index.vocabulary.numbers[term]]
                found.append((places, impacts,
                              quality * (rarity if own is None else min(own, rarity))))
        return found

    def spared(self, found):
        """The terms of concepts with such long postings that only listings found otherwise are
        looked up in them: what they weigh together is less than a result needs."""
        lengths = {term: 0 for term in found}
        for term, postings in found.items():
            for places, _, _ in postings:
                lengths[term] += len(places)
        spared, left = set(), 0.0
        if len(self.clauses) == 1 and sum(lengths.values()) > LONG_POSTINGS:
            for term in self.clauses[0]:
                left += self.needed * self.weights[term]
            for term in sorted(lengths, key=lambda term: (-lengths[term], term)):
                if self.weights[term] < left:
                    left -= self.weights[term]
                    spared.add(term)
        return spared

    def candidates(self):
        """The places worth a close look, after filling `values` with each concept's best there."""
        found = {term: self.postings(concept) for term, concept in self.concepts.items()}
        spared = self.spared(found)
        totals = {}
        for term, postings in found.items():
            values = self.values[term] = {}
            for places, impacts, worth in postings if term not in spared else ():
                if values:
                    for place, impact in zip(places, impacts):
                        value = worth * impact
                        if value > values.get(place, 0.0):
                            values[place] = value
                else:
                    values.update(zip(places, [worth * impact for impact in impacts]))
            if totals:
                for place, value in values.items():
                    totals[place] = totals.get(place, 0.0) + value
            else:
                totals = dict(values)
        allowed = self.index.eligible(self.query.constraints, self.explicit)
        if allowed is not None:
            totals = {place: value for place, value in totals.items() if allowed[place]}
        if spared:
            totals = {place: totals[place] for place in strongest(totals, 4 * CLOSE_LOOKS)}
            for term in spared:
                values = self.values[term]
                for places, impacts, worth in found[term]:
                    for place in totals:
                        at = bisect_left(places, place)
                        if at < len(places) and places[at] == place:
                            values[place] = max(worth * impacts[at], values.get(place, 0.0))
                for place, value in values.items():
                    totals[place] += value
        return strongest(totals, CLOSE_LOOKS)

    # -- a close look

    def prepare_looks(self):
        """None; notes what the term numbers mean for which a close look has to watch.

        `meanings`: number to ([(concept term, credit)], operation or None, ruled-out or None).
        """
        numbers = self.index.vocabulary.numbers
        wanted, ruled_out = {}, {}
        for term, concept in self.concepts.items():
            for form, quality in concept.forms.items():
                if form in numbers:
                    wanted.setdefault(numbers[form], []).append((term, credit(form, quality)))
        for concept in self.query.ruled_out:
            if concept.term not in self.concepts:  # As in "text to speech, not speech to text".
                for form in (concept.term, f"+{concept.operation}"):
                    if form in numbers:
                        ruled_out[numbers[form]] = concept.term
        self.ruled_out_count = len(set(ruled_out.values()))
        asked = {concept.operation for concept in self.concepts.values()} - {None} - ANY_OPERATION
        operations = {numbers["+" + name]: name for name in OPERATION_NAMES
                      if asked and "+" + name in numbers}
        self.meanings = {number: (wanted.get(number, ()), operations.get(number),
                                  ruled_out.get(number))
                         for number in {BREAK, *wanted, *operations, *ruled_out}}

    def parts_of(self, place):
        """The Parts of a listing in which the query finds something, but for what it rules out."""
        meanings, part, parts, number = self.meanings, None, [], 0
        for term_number in filter(meanings.__contains__, self.index.streams[place]):
            if term_number == BREAK:
                number += 1
                part = None
                continue
            if part is None:
                part = Part(number)
                parts.append(part)
            wanted, operation, ruled_out = meanings[term_number]
            for term, earned in wanted:
                if earned > part.concepts.get(term, 0.0):
                    part.concepts[term] = earned
            if operation:
                part.operations.add(operation)
            if ruled_out:
                part.ruled_out.add(ruled_out)
        if self.ruled_out_count:
            parts = [part for part in parts if 2 * len(part.ruled_out) <= self.ruled_out_count]
        self.discount_prose(place, number, parts)
        return parts

    def discount_prose(self, place, breaks, parts):
        """None; lowers what the description of a listing with skills says in passing."""
        first = self.index.first_skill[place]
        if breaks == first:
            return
        share = max(PROSE_LEAST, min(1.0, PROSE_LENGTH / max(1, self.index.prose_length[place])))
        for part in parts:
            if 2 <= part.number < first:
                for term in part.concepts:
                    part.concepts[term] *= share * (1.0 if term in self.objects
                                                    else PROSE_OPERATION)

    def look(self, place):
        """The Match of a listing, or None when it is no result."""
        if not self.covers({term: 1.0 for term, values in self.values.items() if place in values}):
            return None  # Nor can it, read closely.
        parts = self.parts_of(place)
        context, everything = {}, {}
        for part in parts:
            keep_best(everything, part.concepts)
            if part.number < 2:
                keep_best(context, part.concepts)
        if not self.covers(everything):
            return None
        match = Match(place, everything)
        most = 0.0
        for clause, whole in zip(self.clauses, self.wholes):
            most = max(most, self.answer(match, clause, whole, parts, context))
        if not match.qualifies or self.is_reversed(match):
            return None
        for values in self.values.values():
            match.whole += values.get(place, 0.0)
        match.whole *= most
        return match

    def covers(self, concepts):
        """Whether the concepts cover as much of any clause as a result needs."""
        return any(self.covered(clause, concepts) >= self.needed * whole
                   for clause, whole in zip(self.clauses, self.wholes))

    def covered(self, clause, concepts):
        """The weight that the concepts cover of a clause."""
        weight = 0.0
        for term in clause:
            if term in concepts:
                weight += self.weights[term] * concepts[term]
        return weight

    def answer(self, match, clause, whole, parts, context):
        """The share of its value that a match keeps for a clause, after noting what answers it."""
        covered = self.covered(clause, match.concepts)
        best, best_of_skills, skills = 0.0, 0.0, []
        first = self.index.first_skill[match.place]
        for part in parts if covered else ():
            if not part.concepts.keys().isdisjoint(clause):
                together = dict(context)
                keep_best(together, part.concepts)
                weight = self.covered(clause, together)
                best = max(best, weight)
                if part.number >= first and weight >= best_of_skills:
                    skills = [part.number - first] if weight > best_of_skills else (
                        [*skills, part.number - first][:MOST_SKILLS])
                    best_of_skills = weight
        share, note = self.stated(match.place, clause, parts)
        if covered:
            share *= SPREAD_SHARE + (1 - SPREAD_SHARE) * best / covered
        value = 0.0
        for term in clause:
            value += self.values[term].get(match.place, 0.0)
        match.strengths.append(value * share)
        match.skills += [number for number in skills if number not in match.skills]
        if note:
            match.notes.append(note)
        objects = self.objects.intersection(clause)
        if share and covered >= self.needed * whole > 0 and (
                not objects or not objects.isdisjoint(match.concepts)
                or any(self.concepts[term].tells and match.concepts.get(term) == 1.0
                       for term in clause)):
            match.qualifies = True
            match.covered = max(match.covered, covered)
        return share

    def stated(self, place, clause, parts):
        """(share, note): what a match keeps for the operations that its parts declare.

        1 for the one that is asked for; 0, so that a short request does not return it, when
        whatever has the right object declares only others.
        """
        asked = {self.concepts[term].operation for term in clause} - {None} - ANY_OPERATION
        if not asked:
            return 1.0, None
        objects = self.objects.intersection(clause)
        speaking = [part for part in parts if not objects.isdisjoint(part.concepts)]
        if all(part.number < 2 for part in speaking):
            speaking = parts  # A name or a tag gives the object of every skill.
        name = " or ".join(sorted(asked)).replace("?", "")
        if any(asked & part.operations for part in speaking) or any(
                self.concepts[term].operation == unknown_operation(term)
                and part.concepts.get(term, 0.0) >= STATED for part in speaking for term in clause):
            return 1.0, None
        # A tag names a field; it declares no other operation.
        declared = set().union(*(part.operations for part in speaking if part.number != 1))
        denied = self.index.denied.get(place, ())
        if not declared and not any(self.index.vocabulary.numbers.get("+" + one) in denied
                                    for one in asked):
            return UNSTATED_SHARE, f"does not state the operation {name}"
        if any(are_near(one, other) for one in asked for other in declared):
            return UNSTATED_SHARE, f"declares {' and '.join(sorted(declared))}, near {name}"
        if self.short and all(self.concepts[term].sure for term in clause):
            return 0.0, None
        return OTHER_SHARE, f"declares {' and '.join(sorted(declared))}, not {name}"

    def is_reversed(self, match):
        """Whether a listing says only the other direction: "PDF to Markdown" for the reverse.

        Who converts only to PDF converts no PDF, and who converts only PDF makes none.
        """
        directions = [(one, other) for one, other in self.query.directions
                      if one in match.concepts and other in match.concepts]
        if not directions or not self.short:
            return False
        card = dict_of(self.index.listings[match.place].get("card"))
        skills = dicts_of(card.get("skills"))
        texts = [text_of(owner.get(key)) for key in ("name", "description") for owner in
                 (card, *(skills[number] for number in match.skills))]
        said = directions_in(" . ".join(texts))
        if not said:
            return False
        pairs = [pair for one, other in directions for pair in ((one, other), *(
            ((one, None), (None, other)) if self.converts else ()))]
        return any(goes(other, one, said) and not goes(one, other, said) for one, other in pairs)

    # -- order

    def ranked(self):
        """The Matches in the order in which they are returned."""
        matches = [match for match in map(self.look, self.candidates()) if match]
        if self.short and matches:
            floor = BESIDE_BEST * max(match.covered for match in matches)
            matches = [match for match in matches if match.covered >= floor]
        ordered = self.by_evidence(self.by_strength(matches))
        if self.lower_copies(ordered):
            ordered = self.by_evidence(sorted(ordered, key=lambda match: -match.score))
        return ordered

    def by_strength(self, matches):
        """Matches strongest first; a clause that is served counts less for those that follow."""
        def key(match):
            return -match.score, self.index.standing[match.place]

        left, chosen, rest = [1.0] * len(self.clauses), [], matches
        while rest:
            for match in rest:
                most = max(share * strength for share, strength in zip(left, match.strengths))
                match.score = round(WHOLE_SHARE * match.whole + most, 6)
            if len(left) == 1 or len(chosen) == CHOSEN:
                return chosen + sorted(rest, key=key)
            best = min(rest, key=key)
            rest = [match for match in rest if match is not best]
            chosen.append(best)
            served = max(range(len(left)), key=lambda at: left[at] * best.strengths[at])
            left[served] *= SERVED_SHARE
        return chosen

    def lower_copies(self, matches):
        """Whether any match copies one in front of it, after each has lost of its score."""
        alike, found = {}, False    # By what they answer: [place, share that the next copy keeps].
        for match in matches:
            originals = alike.setdefault(frozenset(match.concepts.items()), [])
            original = next((one for one in originals if self.index.are_copies(
                match.place, one[0])), None)
            if original:
                match.score = round(match.score * original[1], 6)
                match.notes.append("has the text of one before it")
                original[1] *= COPY_SHARE
                found = True
            else:
                originals.append([match.place, COPY_SHARE])
        return found

    def by_evidence(self, matches):
        """Matches as they stand, but comparable ones by evidence, and publishers in turn."""
        ordered, at = [], 0
        while at < len(matches):
            end = at
            while end < len(matches) and matches[end].score >= COMPARABLE * matches[at].score:
                end += 1
            ordered += self.in_turn(matches[at:end])
            at = end
        return ordered

    def in_turn(self, matches):
        """Matches by evidence; among equals one of each publisher before the second of any."""
        index, seen, keyed = self.index, {}, []
        for at, match in enumerate(matches):
            evidence, publisher = index.facts[match.place].evidence, index.publisher(match.place)
            turn = seen.get((len(evidence), publisher), 0) if publisher else 0
            seen[len(evidence), publisher] = turn + 1
            keyed.append((-len(evidence), turn, at, match))
        return [entry[3] for entry in sorted(keyed, key=lambda entry: entry[:3])]

    # -- explanation

    def interpretation(self):
        """How the query was read, as plain data."""
        return {
            "task_terms": [concept.word for concept in self.concepts.values()],
            "operations": sorted({concept.operation.lstrip("?")
                                  for concept in self.concepts.values() if concept.operation}),
            "ruled_out": [concept.word for concept in self.query.ruled_out],
            "constraints": dict(self.query.constraints),
            "constraint_phrases": list(self.query.phrases),
            "requirements": dict(self.explicit),
            "clauses": [[self.concepts[term].word for term in clause] for clause in self.clauses],
            "needed_coverage": round(self.needed, 2),
        }

    def item(self, match):
        """One result as plain data."""
        index, place = self.index, match.place
        skills = dicts_of(dict_of(index.listings[place].get("card")).get("skills"))
        names = [text_of(skills[number].get("name")) for number in match.skills]
        words = [concept.word for term, concept in self.concepts.items() if term in match.concepts]
        return {"id": index.ids[place], "score": match.score,
                "matched_skills": list(dict.fromkeys(filter(None, names))),
                "matched_terms": words,
                "reasons": self.reasons(match, words)}

    def reasons(self, match, words):
        """Why a match is where it is: terms, operation, constraints, evidence, what lowered it."""
        facts = self.index.facts[match.place]
        asked = {concept.operation.lstrip("?") for term, concept in self.concepts.items()
                 if term in match.concepts and concept.operation}
        return [
            f"matches {', '.join(words)}",
            *([f"operation: {', '.join(sorted(asked))}"] if asked and not match.notes else []),
            *(f"constraint {key} = {value}: {facts.because(key)}" for key, value in
              {**self.query.constraints, **self.explicit}.items()),
            f"evidence: {', '.join(facts.evidence) or 'none'}",
            *(f"lowered: {note}" for note in match.notes),
        ]


################ Arguments

def located(where, make, *arguments):
    """What `make` returns; a SearchError that it raises is told where."""
    try:
        return make(*arguments)
    except SearchError as error:
        raise SearchError(f"{where}: {error}") from None


def checked_query(query):
    """The query; SearchError when it is no text."""
    if not isinstance(query, str):
        raise SearchError(f"query: must be text, not {query!r}")
    return query


def checked_limit(limit):
    """The limit, None for all; SearchError for one that is no whole number from 0."""
    if limit is not None and (type(limit) is not int or limit < 0):
        raise SearchError(f"limit: must be a whole number from 0, not {limit!r}")
    return limit


def checked_ids(listings):
    """The ids in order; SearchError names every listing without one, a repeated or a mixed one."""
    ids, faults, seen = [], [], set()
    for place, listing in enumerate(listings):
        value = listing.get("id") if isinstance(listing, dict) else None
        if not isinstance(listing, dict):
            faults.append(f"listings[{place}]: must be an object, not {value_text(listing)}")
        elif not (type(value) is int or isinstance(value, str) and value):
            faults.append(f"listings[{place}].id: must be an integer or a non-empty text, "
                          f"not {value_text(value)}")
        elif ids and type(value) is not type(ids[0]):
            faults.append(f"listings[{place}].id: {value_text(value)} is of another kind than "
                          f"{value_text(ids[0])}")
        elif value in seen:
            faults.append(f"listings[{place}].id: repeats {value_text(value)}")
        else:
            ids.append(value)
            seen.add(value)
    if faults:
        raise SearchError("\n".join(faults))
    return ids


def value_text(value):
    """A value as a message shows it: short, whatever it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


################ Files

MOST_DEPTH = 100
# What an object has that read_directory.py reads: Agent Cards, servers' records, and lists of them.
OTHER_FORMS = frozenset(["name", "skills", "card", "cards", "server", "servers"])


def read_json(path):
    """The data of a JSON file; SearchError names the file and what is wrong with it.

    UTF-8 without a byte order mark, no duplicate keys, no NaN or Infinity, no lone surrogates, at
    most MOST_DEPTH levels.
    """
    import json

    def unique(pairs):
        data = dict(pairs)
        if len(data) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise SearchError(f"repeats the key {repeated!r} in one object")
        return data

    def finite(text):
        number = float(text)
        if not math.isfinite(number):
            raise SearchError(f"holds the number {text}, which is not finite")
        return number

    def whole(text):
        if len(text) > 40:
            raise SearchError(f"holds a whole number of {len(text)} digits")
        return int(text)

    try:
        with open(path, "rb") as file:
            content = file.read()
        if content.startswith(b"\xef\xbb\xbf"):
            raise SearchError("starts with a byte order mark; save it as UTF-8 without one")
        data = json.loads(content.decode("utf-8"), object_pairs_hook=unique, parse_float=finite,
                          parse_int=whole, parse_constant=finite)
        check_depth(data)
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except OSError as error:
        raise SearchError(f"{visible(path)}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SearchError(f"{visible(path)}: is not UTF-8 at byte {error.start}") from None
    except UnicodeEncodeError:
        raise SearchError(f"{visible(path)}: holds half of a surrogate pair") from None
    except RecursionError:
        raise in_file(path, f"is nested more than {MOST_DEPTH} levels deep") from None
    except SearchError as error:
        raise in_file(path, error) from None
    except json.JSONDecodeError as error:
        raise SearchError(f"{visible(path)}: line {error.lineno} column {error.colno}: "
                          f"not JSON: {error.msg}") from None
    return data


def in_file(path, error):
    """A SearchError that says which file each line of another one is about."""
    return SearchError("\n".join(f"{visible(path)}: {line}" for line in str(error).split("\n")))


def check_depth(data):
    """None; SearchError for data nested more than MOST_DEPTH levels deep."""
    level, depth = [data], 0
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise SearchError(f"is nested more than {MOST_DEPTH} levels deep")
        level = [inner for outer in level if isinstance(outer, (dict, list))
                 for inner in (outer.values() if isinstance(outer, dict) else outer)
                 if isinstance(inner, (dict, list))]


def read_listings(path, strict=False, read=read_json):
    """(listings, clock or None) of a file, or of a folder of *.json files.

    A list of listings, or an object with "listings", is taken as it is, and its faults are errors.
    A2A Agent Cards and MCP registry answers are put into that form by read_directory.py. A record
    that it cannot read is named on standard error, or in a SearchError when `strict`. `read` makes
    the data of a path.
    """
    import os
    data = None if os.path.isdir(path) else read(path)
    if data is None or is_other_form(data):
        return read_other_form(path, data, strict, read)
    listings = data.get("listings") if isinstance(data, dict) else data
    if not isinstance(listings, list):
        raise in_file(path, 'must be a list of listings, or an object with "listings"')
    clock = data.get("clock", data.get("captured_at")) if isinstance(data, dict) else None
    try:
        checked_ids(listings)
        return listings, None if clock is None else located("clock", parse_time, clock)
    except SearchError as error:
        raise in_file(path, error) from None


def is_other_form(data):
    """Whether data holds a card or a server's record, and no listing: an id beside a card."""
    if isinstance(data, dict):
        return "listings" not in data and not OTHER_FORMS.isdisjoint(data)
    records = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
    return (not any("id" in item and "card" in item for item in records)
            and not all(OTHER_FORMS.isdisjoint(item) for item in records))


def read_other_form(path, data, strict, read):
    """What read_listings gives for a folder, or for data that is not in the form of listings."""
    try:
        from read_directory import documents_of, read_documents
    except ModuleNotFoundError:
        raise in_file(path, "is read with read_directory.py, as every folder, Agent Card and MCP "
                            "registry; put that file beside capability_search.py") from None
    try:
        documents = documents_of(path, read) if data is None else [(path, data)]
    except OSError as error:
        raise SearchError(f"{visible(path)}: {error.strerror or error}") from None
    if not documents:
        raise in_file(path, "holds no *.json file")
    directory = read_documents(documents)
    if directory.skipped:
        skipped = [visible(line) for line in directory.skipped]
        count = f"{visible(path)}: {directory.count}"
        if strict or not directory.listings:
            raise SearchError("\n".join(skipped + [count] * (len(skipped) > 1)))
        print(*(f"skipped: {line}" for line in skipped), count, sep="\n", file=sys.stderr)
    clock = directory.clock
    return directory.listings, None if clock is None else located(
        f"{visible(path)}: clock", parse_time, clock)


def visible(text):
    """The text with control, format and lone surrogate characters written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    import unicodedata
    return "".join(
        letter if unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        else ascii(letter)[1:-1] for letter in text)


################ Command

def parse_requirement(text):
    """(key, value) of KEY=VALUE as on the command line; lists have commas between their values."""
    key, equals, value = text.partition("=")
    if not equals:
        raise SearchError(f"--require: must be KEY=VALUE, not {text!r}")
    if key == "exclude_auth":
        value = [kind for kind in value.split(",") if kind]
    elif value in ("true", "false"):
        value = value == "true"
    elif key.endswith("_hours"):
        try:
            value = float(value)
        except ValueError:
            pass
    try:
        checked_requirements({key: value})
    except SearchError as error:
        raise SearchError(f"--require: {error}") from None
    return key, value


def options_of(argv):
    """The options of a command line."""
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message):
            raise SearchError(f"{message}; --help shows the usage")

    parser = Parser(prog="capability_search.py", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", nargs="?", help="the task, with its constraints in words")
    parser.add_argument("--listings", metavar="FILE",
                        help="listings, A2A Agent Cards or an MCP registry's answer, or a folder "
                        "of such files (default: fixtures.json beside this file)")
    parser.add_argument("--strict", action="store_true",
                        help="a record of --listings that cannot be read is an error")
    parser.add_argument("--ranker", choices=("recommendation", "baseline"),
                        default="recommendation", help="default: recommendation")
    parser.add_argument("--require", metavar="KEY=VALUE", action="append", default=[],
                        help="explicit filter; keys: " + ", ".join(REQUIREMENTS))
    parser.add_argument("--limit", metavar="N", default="10", help="results to show (default: 10)")
    parser.add_argument("--now", metavar="TIME",
                        help="clock, ISO 8601 (default: the file's own, else the current time)")
    parser.add_argument("--json", action="store_true", help="print JSON for a program")
    parser.add_argument("--phrasings", action="store_true",
                        help="print the table of constraint phrasings and leave")
    parser.add_argument("--version", action="version",
                        version=f"capability_search.py {RANKER_VERSION}")
    options = parser.parse_args(argv)
    if options.query is None and not options.phrasings:
        parser.error("a query is needed")
    if not re.fullmatch(r"[0-9]{1,9}", options.limit):
        parser.error(f"--limit must be a whole number from 0, not {options.limit!r}")
    return options


def phrasings_table():
    """The table of phrasings in Markdown, as the README holds it."""
    lines = ["| phrasing | NAME | requirement |", "|---|---|---|"]
    for phrasing, names, requirement in phrasings():
        stated = ", ".join(f"{key}: {json_text(value)}" for key, value in requirement.items())
        lines.append(f"| {phrasing} | {' '.join(names.split())} | {stated} |")
    return "\n".join(lines) + "\n"


def json_text(value):
    """A value as JSON on one line."""
    import json
    return json.dumps(value, ensure_ascii=False)


def report(answer, listings):
    """What a person reads: how the query was understood, then the results with their reasons."""
    by_id = {listing["id"]: listing for listing in listings}
    lines = []
    interpretation = answer.get("interpretation")
    if interpretation:
        lines.append("task: " + (" ".join(interpretation["task_terms"]) or "(none)"))
        if interpretation["operations"]:
            lines.append("operation: " + ", ".join(interpretation["operations"]))
        if interpretation["ruled_out"]:
            lines.append("ruled out: " + " ".join(interpretation["ruled_out"]))
        stated = {**interpretation["constraints"], **interpretation["requirements"]}
        for key, value in stated.items():
            lines.append(f"constraint: {key} = {json_text(value)}")
    if not answer["items"]:
        no_task = interpretation and not interpretation["task_terms"]
        lines.append("the query names no task" if no_task else "no listing declares this")
    for rank, item in enumerate(answer["items"], 1):
        card = by_id[item["id"]].get("card")
        name = text_of(card.get("name")) if isinstance(card, dict) else ""
        lines += ["", f"{rank}. {name or '(no name)'}  [{item['id']}]"]
        if item.get("matched_skills"):
            lines.append("   skills: " + "; ".join(item["matched_skills"]))
        lines += [f"   {reason}" for reason in item.get("reasons", ())]
    return "\n".join(map(visible, lines)).lstrip("\n") + "\n"


def run(options):
    """The text that a command line asks for."""
    import os
    if options.phrasings:
        return phrasings_table()
    path = options.listings or os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                            "fixtures.json")
    requirements = {}
    for key, value in map(parse_requirement, options.require):
        if requirements.setdefault(key, value) != value:
            raise SearchError(f"--require: {key}: is given twice, with different values")
    listings, clock = read_listings(path, options.strict)
    if options.now is not None:
        try:
            clock = parse_time(options.now)
        except SearchError as error:
            raise SearchError(f"--now: {error}") from None
    if clock is None:
        from datetime import datetime, timezone
        clock = datetime.now(timezone.utc)
    try:
        index = CapabilityIndex(listings, clock)
    except SearchError as error:
        raise in_file(path, error) from None
    if options.ranker == "baseline":
        ids = index.baseline(options.query, requirements, int(options.limit))
        answer = {"items": [{"id": value} for value in ids]}
    else:
        answer = index.recommend(options.query, requirements, int(options.limit))
    if options.json:
        import json
        return json.dumps(answer, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return report(answer, listings)


def main(argv=None):
    """The exit status of a command line: 0, 2 or 130, as the manual above says."""
    import os
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
        sys.stderr.reconfigure(errors="backslashreplace")
    try:
        try:
            sys.stdout.write(run(options_of(argv)))
        finally:
            sys.stdout.flush()
        return 0
    except SearchError as error:
        for line in str(error).splitlines():
            print(f"error: {visible(line)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        # Only standard output is left; what it still holds must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"error: standard output: {error.strerror or error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
