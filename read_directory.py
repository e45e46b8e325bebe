"""A directory of agents or servers as listings, whatever form it comes in.

`capability_search.py --listings` and `capture_live.py --snapshot` take a file, or a folder whose
*.json files are read in the order of their names. What is not yet in the form of listings comes
here, and is told apart by its content:

    A2A Agent Cards       one card; a list of cards; {"cards": [...]}, each a card or
                          {"listed_at": TIME, "card": {...}}; versions 0.2, 0.3, 1.0 and mixtures
    MCP registry answers  {"servers": [{"server": {...}, "_meta": {...}}]}, also without the
                          wrapper, as a list of pages, and the records of the first registry

What the source says is put into the form of an A2A 1.0 card; what it does not say is left out.

    id           A2A: the card's well-known address or url without its scheme, else its name;
                 MCP: the server's name. A second one with the same id gets -2, a third -3
    publisher    A2A: the provider's organization, else the author; MCP: the name space of the name
    url          A2A: the card's url; MCP: repository, else website, else first remote
    listed_at    only where the source tells it
    tags         a card's own "tags" and "registryTags"

A secret that an MCP server asks for is a declared API key: an environment variable or a header
that the record calls secret, or that has the name of a secret (API_KEY) where the record does not
say, unless the record says that it is not required. Of several versions of one MCP server the one
marked latest is read, without a mark the newest; records that a registry marks deleted are left
out.

    from read_directory import documents_of, read_documents
    directory = read_documents(documents_of("agent-cards.json", read_json))
    directory.listings, directory.clock, directory.skipped, directory.count
"""

import os
import re
from collections import namedtuple
from datetime import datetime
from urllib.parse import quote, urlsplit

# listings: in the order of the source. clock: text of the source's "clock" or "captured_at", or
# None. skipped: a line for each record that could not be read. count: one line about all of them.
Directory = namedtuple("Directory", "listings clock skipped count")


class RecordError(ValueError):
    """A record that cannot be read; the message says why."""


################ Data: how the forms say the same things

# The name of a scheme object in a 1.0 card, and its fields there by their names in the flat form.
SCHEME_FIELDS = {
    "apiKeySecurityScheme": {"in": "location", "name": "name"},
    "httpAuthSecurityScheme": {"scheme": "scheme", "bearerFormat": "bearerFormat"},
    "oauth2SecurityScheme": {"flows": "flows", "oauth2MetadataUrl": "oauth2MetadataUrl"},
    "openIdConnectSecurityScheme": {"openIdConnectUrl": "openIdConnectUrl"},
    "mtlsSecurityScheme": {},
}
# What older cards call a scheme, small letters and digits only: its 1.0 name, what else that says.
SCHEME_WORDS = {
    "apikey": ("apiKeySecurityScheme", {}),
    "http": ("httpAuthSecurityScheme", {}),
    "bearer": ("httpAuthSecurityScheme", {"scheme": "Bearer"}),
    "basic": ("httpAuthSecurityScheme", {"scheme": "Basic"}),
    "digest": ("httpAuthSecurityScheme", {"scheme": "Digest"}),
    "oauth2": ("oauth2SecurityScheme", {"flows": {}}),
    "oauth": ("oauth2SecurityScheme", {"flows": {}}),
    "openidconnect": ("openIdConnectSecurityScheme", {}),
    "oidc": ("openIdConnectSecurityScheme", {}),
    "mutualtls": ("mtlsSecurityScheme", {}),
    "mtls": ("mtlsSecurityScheme", {}),
}
NO_SCHEME = frozenset(["none", "noauth", "public", "anonymous"])

# What cards and records call a transport, small letters and digits only. Others stay as they are.
BINDINGS = {"jsonrpc": "JSONRPC", "jsonrpc20": "JSONRPC", "grpc": "GRPC", "httpjson": "HTTP+JSON",
            "rest": "HTTP+JSON", "restful": "HTTP+JSON", "httprest": "HTTP+JSON"}
DEFAULT_BINDING = "JSONRPC"             # of a card's url, by the schemas of 0.2 and 0.3
MCP_TRANSPORTS = {"stdio": "stdio", "sse": "sse", "http": "streamable-http",
                  "streamable": "streamable-http", "streamablehttp": "streamable-http"}

# What a card keeps, and of which kind each must be; one of another kind is left out.
CARD_FIELDS = {"description": str, "version": str, "defaultInputModes": list,
               "defaultOutputModes": list, "signatures": list, "documentationUrl": str,
               "iconUrl": str}
CAPABILITY_FIELDS = {"streaming": bool, "pushNotifications": bool, "extendedAgentCard": bool,
                     "extensions": list}
SKILL_FIELDS = {"id": str, "name": str, "description": str, "tags": list, "examples": list,
                "inputModes": list, "outputModes": list}

# What tells a record's kind where its surroundings do not, in this order.
CARD_MARKS = frozenset("skills capabilities supportedInterfaces additionalInterfaces"
                       " preferredTransport protocolVersion defaultInputModes defaultOutputModes"
                       .split())
SERVER_MARKS = frozenset("packages remotes version_detail repository websiteUrl server".split())
SERVER_NAME = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+/[A-Za-z0-9._/-]+")

# Names of environment variables and headers that hold a secret.
SECRET_NAME = re.compile(
    r"(?:^|(?<!public)[-_])(?:(?:api|access|app|auth|client|private|secret)[-_]?)?key"
    r"(?:[-_]?(?:id|secret))?$|token$|secret|passw|passphrase|credential|[-_]pass$|[-_]pat$"
    r"|^authorization$", re.IGNORECASE)
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
WELL_KNOWN = re.compile(r"/+\.well-known/[^/]*$")
REGISTRY_META = "io.modelcontextprotocol.registry"      # ends the head of every spelling of it


################ Small readers

def text(value):
    """Return value without blanks around it when it is text, else ""."""
    return value.strip() if isinstance(value, str) else ""


def an_object(value):
    """Return value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects(value):
    """Return the objects in a list; none for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value):
    """Return the texts in a list that are not empty; none for anything else."""
    return [item for item in value if text(item)] if isinstance(value, list) else []


def kept(value, fields):
    """Return the fields of an object that are named and of their kind, in the order of the names.

    A list of texts or objects loses what is neither.
    """
    found = {}
    for name, kind in fields.items():
        item = an_object(value).get(name)
        if kind is list and isinstance(item, list):
            item = [part for part in item if isinstance(part, (str, dict))]
        if isinstance(item, kind):
            found[name] = item
    return found


def filled(**fields):
    """Return the fields that are not empty."""
    return {name: value for name, value in fields.items() if value not in ("", [], {}, None)}


def word(value):
    """Return only the letters and digits of a text, small."""
    return re.sub(r"[^a-z0-9]", "", text(value).lower())


def first(value, *names):
    """Return what the first of these names that an object has holds, else None."""
    return next((value[name] for name in names if name in value), None)


def instant(value):
    """Return the aware datetime of an ISO 8601 text with an offset, else None."""
    found = TIME.fullmatch(text(value))
    try:
        return found and datetime.fromisoformat(
            found[1] + (found[2] or ".0")[:7].ljust(7, "0") + found[3].replace("Z", "+00:00"))
    except ValueError:
        return None


def shown(value):
    """Return a value as a message shows it: short, whatever it is."""
    found = repr(value)
    return found if len(found) <= 60 else found[:57] + "..."


################ A2A Agent Cards

def read_card(record):
    """Return the listing of a card, or of {"listed_at", "card"}; raise RecordError."""
    wrapper = record if "card" in record and "name" not in record else {}
    card = wrapper.get("card", record)
    if not isinstance(card, dict):
        raise RecordError(f"card: must be an object, not {shown(card)}")
    name, provider, url = name_of(card), provider_of(card.get("provider")), text(card.get("url"))
    interfaces = interfaces_of(card, url)
    url = url or next((item["url"] for item in interfaces if "url" in item), "")
    schemes, requirements = security_of(card)
    fields = kept(card, CARD_FIELDS)
    made = {"name": name, **filled(
        description=fields.pop("description", ""), version=fields.pop("version", ""),
        provider=provider, supportedInterfaces=interfaces,
        capabilities=kept(card.get("capabilities"), CAPABILITY_FIELDS),
        securitySchemes=schemes, securityRequirements=requirements), **filled(**fields),
        **filled(skills=skills_of(card.get("skills")))}
    address = text(first(card, "wellKnownURI", "wellKnownUri")) or url
    tags = list(dict.fromkeys(texts(card.get("tags")) + texts(card.get("registryTags"))))
    return {"id": address_id(address) or slug(name),
            **filled(publisher=(provider or provider_of(card.get("author"))).get("organization"),
                     listed_at=wrapper.get("listed_at"), url=url, tags=tags),
            "card": made}


def name_of(record):
    """Return the name of a record; raise RecordError for none."""
    name = text(record.get("name"))
    if not name:
        raise RecordError("name: must be text that is not empty, "
                          f"not {shown(record.get('name'))}")
    return name


def provider_of(provider):
    """Return a provider, given as an object or as the name of the organization."""
    if isinstance(provider, str):
        return filled(organization=provider.strip())
    provider = an_object(provider)
    organization = text(first(provider, "organization", "name"))
    return filled(organization=organization, url=text(provider.get("url")))


def skills_of(skills):
    """Return the skills of a card; a skill that is a text is a name. Raise RecordError."""
    if skills is None:
        return []
    if not isinstance(skills, list):
        raise RecordError(f"skills: must be a list, not {shown(skills)}")
    made = []
    for place, skill in enumerate(skills):
        if not isinstance(skill, (dict, str)):
            raise RecordError(f"skills[{place}]: must be an object or a name, "
                              f"not {shown(skill)}")
        made.append({"name": skill} if isinstance(skill, str) else kept(skill, SKILL_FIELDS))
    return made


def interfaces_of(card, url):
    """Return the interfaces of a card, each once: 1.0's, then the older url and additional ones."""
    version = text(card.get("protocolVersion"))
    made = [filled(url=text(item.get("url")),
                   protocolBinding=binding_of(first(item, "protocolBinding", "transport")),
                   protocolVersion=text(item.get("protocolVersion")), tenant=item.get("tenant"))
            for item in objects(card.get("supportedInterfaces"))]
    preferred = binding_of(card.get("preferredTransport"))
    older = []
    if url and (preferred or not made):
        older.append((url, preferred or DEFAULT_BINDING))
    older += [(text(item.get("url")), binding_of(first(item, "transport", "protocolBinding")))
              for item in objects(card.get("additionalInterfaces"))]
    seen = {(item.get("url", ""), item.get("protocolBinding", "")) for item in made}
    for pair in older:
        if pair not in seen and pair[0]:
            seen.add(pair)
            made.append(filled(url=pair[0], protocolBinding=pair[1], protocolVersion=version))
    return made


def binding_of(transport):
    """Return a transport's name in A2A 1.0; an unknown one as it is."""
    return BINDINGS.get(word(transport), text(transport))


def security_of(card):
    """Return (schemes by name, requirements) in the form of 1.0, both empty if nothing is said."""
    schemes = {name: scheme_of(scheme, name)
               for name, scheme in an_object(card.get("securitySchemes")).items()}
    stated = card.get("securityRequirements") or card.get("security")
    requirements = [requirement_of(needs) for needs in stated if isinstance(needs, (dict, str))
                    ] if isinstance(stated, list) else []
    if not schemes and not requirements:
        return authentication_of(card.get("authentication"))
    for needs in requirements:          # a scheme that no object describes may tell by its name
        for name in needs["schemes"]:
            if name not in schemes and word(name) in SCHEME_WORDS:
                schemes[name] = scheme_of({}, name)
    return schemes, requirements


def scheme_of(scheme, name=""):
    """Return a scheme object in the form of 1.0; one of no known kind as it is."""
    scheme = an_object(scheme)
    nested = next((key for key in SCHEME_FIELDS if isinstance(scheme.get(key), dict)), None)
    if nested:
        return {nested: scheme[nested]}
    kind, said = SCHEME_WORDS.get(word(scheme.get("type") if scheme else name), (None, {}))
    if not kind:
        return scheme
    fields = {"description": "description", **SCHEME_FIELDS[kind]}
    return {kind: {**said, **{made: scheme[field] for field, made in fields.items()
                              if field in scheme}}}


def requirement_of(needs):
    """Return one alternative of a card's requirements in the form of 1.0.

    needs: {scheme: [scopes]}, {"schemes": {scheme: {"list": [scopes]}}}, or a scheme's name.
    """
    if isinstance(needs, str):
        needs = {needs: []}
    elif isinstance(needs.get("schemes"), dict):
        needs = needs["schemes"]
    return {"schemes": {name: {"list": texts(scopes.get("list") if isinstance(scopes, dict)
                                             else scopes)}
                        for name, scopes in needs.items()}}


def authentication_of(stated):
    """Return (schemes, requirements) of the older "authentication" object: any one is enough.

    Its credentials are left where they are.
    """
    about = an_object(stated)
    names = first(about, "schemes", "scheme", "type") if about else stated
    names = [names] if isinstance(names, str) else texts(names)
    schemes, requirements = {}, []
    for name in names:
        if word(name) in NO_SCHEME:
            requirements.append({"schemes": {}})
            continue
        schemes[name] = scheme_of({}, name)
        if "apiKeySecurityScheme" in schemes[name] and text(about.get("apiKeyHeader")):
            schemes[name] = {"apiKeySecurityScheme": {"location": "header",
                                                      "name": text(about["apiKeyHeader"])}}
        requirements.append({"schemes": {name: {"list": []}}})
    return schemes, requirements


################ MCP registry records

def read_server(record):
    """Return the listing of an MCP server's record, with or without wrapper; raise RecordError."""
    server = record.get("server", record)
    if not isinstance(server, dict):
        raise RecordError(f"server: must be an object, not {shown(server)}")
    name = name_of(server)
    space, slash, last = name.rpartition("/")
    details = an_object(server.get("version_detail"))
    website = text(first(server, "websiteUrl", "website_url"))
    url = (text(an_object(server.get("repository")).get("url")) or website
           or next((text(remote.get("url")) for remote in objects(server.get("remotes"))), ""))
    ways = ways_in(server)
    schemes, requirements = secrets_of(ways)
    card = {"name": text(server.get("title")) or last or name, **filled(
        description=text(server.get("description")),
        version=text(server.get("version")) or text(details.get("version")),
        supportedInterfaces=list({tuple(way.items()): way for way, secrets in ways}.values()),
        securitySchemes=schemes, securityRequirements=requirements, documentationUrl=website)}
    listed = first(registry_facts(record), "publishedAt", "published_at")
    return {"id": name,
            **filled(publisher=space, url=url,
                     listed_at=listed or details.get("release_date")),
            "card": card}


def registry_facts(record):
    """Return what the registry itself says about a record: status, times, whether it is latest."""
    server = an_object(record.get("server", record))
    for holder in (record, an_object(record.get("_meta")), an_object(server.get("_meta"))):
        for key in holder:
            if REGISTRY_META in key and not key.endswith("publisher-provided"):
                return an_object(holder[key])
    return {}


def is_latest(record):
    """Return whether a record's registry marks it as the latest version, None for no mark."""
    details = an_object(an_object(record.get("server", record)).get("version_detail"))
    facts = {**details, **registry_facts(record)}
    mark = first(facts, "isLatest", "is_latest")
    return mark if isinstance(mark, bool) else None


def is_deleted(record):
    """Return whether a registry marks a record as deleted."""
    server = an_object(record.get("server", record))
    return "deleted" in (registry_facts(record).get("status"), server.get("status"))


def ways_in(server):
    """Return [(interface, secrets)] of a server: its remotes, then its packages.

    A secret is (name, location).
    """
    ways = []
    for remote in objects(server.get("remotes")):
        kind = first(remote, "type", "transport_type")
        ways.append((filled(url=text(remote.get("url")), protocolBinding=mcp_binding(kind)),
                     needed(remote.get("headers"), "header")))
    for package in objects(server.get("packages")):
        transport = an_object(package.get("transport"))
        url = text(transport.get("url")) or package_url(package)
        variables = first(package, "environmentVariables", "environment_variables")
        ways.append((filled(url=url, protocolBinding=mcp_binding(transport.get("type"))),
                     needed(variables, "environment")
                     + needed(transport.get("headers"), "header")))
    return ways


def package_url(package):
    """Return the address of a package: its own, or pkg:TYPE/NAME as far as the record says it."""
    name = text(first(package, "identifier", "name"))
    kind = text(first(package, "registryType", "registry_type", "registry_name"))
    if not name or "://" in name:
        return name
    return "pkg:" + (f"{kind}/" if kind and kind != "unknown" else "") + quote(name, safe="/")


def mcp_binding(kind):
    """Return the protocol binding of an MCP transport, "" for one without a name."""
    name = MCP_TRANSPORTS.get(word(kind), text(kind))
    return f"MCP/{name}" if name else ""


def needed(variables, location):
    """Return [(name, location)] of the secrets among variables or headers that must be given."""
    found = []
    for variable in objects(variables):
        name = text(variable.get("name"))
        secret = first(variable, "isSecret", "is_secret")
        if secret is None:
            secret = SECRET_NAME.search(name) is not None
        if name and secret is True and first(variable, "isRequired", "is_required") is not False:
            found.append((name, location))
    return found


def secrets_of(ways):
    """Return (schemes, requirements) of ways in: each that asks for secrets is an alternative.

    A way that asks for none adds nothing: most records do not say what a server needs.
    """
    schemes, requirements = {}, []
    for way, secrets in ways:
        schemes.update((name, {"apiKeySecurityScheme": {"location": location, "name": name}})
                       for name, location in secrets)
        needs = {"schemes": {name: {"list": []} for name, location in secrets}}
        if secrets and needs not in requirements:
            requirements.append(needs)
    return schemes, requirements


################ Ids

def address_id(address):
    """Return a web address as an id: no scheme, credentials, query or well-known file; or "".

    An id is shown and published, so an IP address is no id.
    """
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if not host or ":" in host or re.fullmatch(r"[\d.]+", host, re.ASCII):
        return ""
    return parts.netloc.rpartition("@")[2] + WELL_KNOWN.sub("", parts.path).rstrip("/")


def slug(name):
    """Return a name as an id: small, with - for everything that is no letter and no digit."""
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-") or "unnamed"


def make_unique(listings):
    """Give every listing whose id an earlier one has the next free -2, -3, ..."""
    taken, numbers = {listing["id"] for listing in listings}, {}
    for listing in listings:
        base = listing["id"]
        number = numbers.get(base, 0) + 1
        if number > 1:
            while f"{base}-{number}" in taken:
                number += 1
            listing["id"] = f"{base}-{number}"
            taken.add(listing["id"])
        numbers[base] = number


################ Records of a source

def records_of(data, where=""):
    """Yield (where, record, reader) of a file's value; the reader is None for an unknown kind."""
    if isinstance(data, list):
        for place, item in enumerate(data):
            yield from records_of(item, f"{where}[{place}]")
        return
    holder = an_object(data)
    containers = [(name, reader) for name, reader in (("cards", read_card),
                                                      ("servers", read_server))
                  if isinstance(holder.get(name), list)]
    for name, reader in containers:
        for place, item in enumerate(holder[name]):
            yield f"{where}.{name}[{place}]".lstrip("."), item, reader
    if not containers:
        yield where, data, reader_of(holder)


def reader_of(record):
    """Return the function that reads a record of this kind, or None."""
    if CARD_MARKS & record.keys() or isinstance(record.get("card"), dict):
        return read_card
    if SERVER_MARKS & record.keys() or SERVER_NAME.fullmatch(text(record.get("name"))):
        return read_server
    return read_card if "name" in record and record.keys() & {"url", "description"} else None


def converted(record, reader):
    """Return the listing of a record; raise RecordError."""
    if not isinstance(record, dict):
        raise RecordError(f"must be an object, not {shown(record)}")
    if reader is None:
        raise RecordError("is neither an A2A Agent Card nor the record of an MCP server")
    return reader(record)


def shown_name(record):
    """Return the name that a record gives, for a message."""
    inner = an_object(record)
    inner = an_object(inner.get("card", inner.get("server", inner)))
    return shown(inner["name"]) if text(inner.get("name")) else "(no name)"


def superseded(readings):
    """Return the places, among (record, listing) of servers, of deleted and older versions.

    Of one server the version marked latest stays, else the newest, else the last.
    """
    best = {}
    for place, (record, listing) in enumerate(readings):
        if not is_deleted(record):
            listed = instant(listing.get("listed_at"))
            rank = (is_latest(record) is True, listed.timestamp() if listed else 0.0, place)
            best[listing["id"]] = max(best.get(listing["id"], rank), rank)
    return set(range(len(readings))) - {rank[-1] for rank in best.values()}


################ Reading

def documents_of(path, read):
    """Return [(path, value or ValueError)] of a file, or of each *.json of a folder by name.

    read: a function from a path to a value that raises ValueError, whose message names the path.
    That of a single file is raised on; in a folder the others are read all the same. Raises
    OSError for a folder that cannot be listed.
    """
    if not os.path.isdir(path):
        return [(path, read(path))]
    documents = []
    for name in sorted(os.listdir(path)):
        file = os.path.join(path, name)
        if name.endswith(".json") and os.path.isfile(file):
            try:
                documents.append((file, read(file)))
            except ValueError as error:
                documents.append((file, error))
    return documents


def read_documents(documents):
    """Return the Directory of what documents_of gave, none of it in the form of listings."""
    skipped, cards, servers, total, head = [], [], [], 0, {}
    for path, value in documents:
        if isinstance(value, ValueError):
            skipped += str(value).splitlines()
            total += 1
            continue
        head = an_object(value)
        for where, record, reader in records_of(value):
            total += 1
            try:
                listing = converted(record, reader)
            except RecordError as error:
                place = " ".join(filter(None, (where, shown_name(record))))
                skipped.append(f"{path}: {place}: {error}")
                continue
            (servers if reader is read_server else cards).append((total, record, listing))
    gone = superseded([(record, listing) for place, record, listing in servers])
    servers = [server for at, server in enumerate(servers) if at not in gone]
    listings = [listing for place, record, listing in sorted(
        cards + servers, key=lambda entry: entry[0])]
    make_unique(listings)
    count = f"read {len(listings)} of {total} records"
    if skipped:
        count += f"; {len(skipped)} could not be read"
    if gone:
        count += f"; {len(gone)} deleted or of an older version"
    clock = first(head, "clock", "captured_at") if len(documents) == 1 else None
    return Directory(listings, clock, skipped, count)
