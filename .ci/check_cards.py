"""Read every card of fixtures.json with the protocol's own Python SDK; exit 1 when one differs."""

import json
import pathlib
import sys

from a2a.types import AgentCard
from google.protobuf.json_format import MessageToDict, ParseDict

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    """The exit status: 0 when every card parses and keeps its skills, interfaces and schemes."""
    listings = json.loads((ROOT / "fixtures.json").read_text(encoding="utf-8"))["listings"]
    faults = 0
    for listing in listings:
        card = listing["card"]
        try:
            read = MessageToDict(ParseDict(card, AgentCard()))
        except Exception as error:
            print(f"listing {listing['id']}: {error}")
            faults += 1
            continue
        for key in ("name", "description", "skills", "supportedInterfaces", "signatures"):
            if read.get(key, []) != card.get(key, []):
                print(f"listing {listing['id']}: {key} is read as {read.get(key)}")
                faults += 1
        if set(read.get("securitySchemes", {})) != set(card.get("securitySchemes", {})):
            print(f"listing {listing['id']}: securitySchemes differ")
            faults += 1
    print(f"{len(listings)} cards, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
