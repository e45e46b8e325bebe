#!/usr/bin/env python3
"""Write fixtures.json: a small fictional directory, searches in it, and judgments of every answer.

    $ python build_fixtures.py                  writes fixtures.json beside this script
    $ python build_fixtures.py --check          compares it with the records and writes nothing
    $ python build_fixtures.py --output -       prints it

A run that works, and one that fails after somebody changed the file by hand:

    $ python build_fixtures.py --output my.json
    wrote my.json: 34 listings, 24 cases
    $ python build_fixtures.py --check --output my.json
    error: my.json: differs from the records; first at listings: 105

The records are the tables PUBLISHERS, LISTINGS and CASES below. To add a listing, copy one, give
it a new id, and judge it in every case: an id that a case does not list counts as not relevant.
A changed record or judgment raises VERSION. The same records give the same bytes everywhere.

Exit status: 0 written, or the same; 1 --check found a difference; 2 bad records, file or usage;
130 interrupted.
"""

import argparse
import base64
import hashlib
import itertools
import json
import os
import re
import sys
import unicodedata
from typing import NamedTuple

SCHEMA_VERSION = 1
BENCHMARK = "capability-search-development"
VERSION = "1.0.0"
CLOCK = "2026-10-20T12:00:00+00:00"
NOTICE = (
    "A fictional directory: every name is made up and every host ends in .example. This is a "
    "development set, used to find and mend faults in the rankers, not a held-out test. Cards "
    "state what a publisher declares; no task was run, so nothing here shows that one succeeds. "
    "MIT licence."
)
DEFAULT_OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fixtures.json")


################ What a record says

class Skill(NamedTuple):
    """One declared ability; `tags` has commas between them."""
    id: str
    name: str
    description: str
    tags: str
    examples: tuple = ()


class Seen(NamedTuple):
    """When the directory looked, in UTC: "2026-10-20 09:00", with " failed" after it, or None."""
    card: str = None
    tls: str = None
    protocol: str = None


class Listing(NamedTuple):
    """One entry of the directory.

    `needs` lists the alternatives for signing in. Each names the schemes that it needs together,
    with a space between them; an empty one needs nothing. `declares` names schemes of a card that
    says nothing about when they are needed. `streaming=None` leaves the capability out; so does
    `page=False` with the address of the entry in the directory.
    """
    id: int
    publisher: str
    name: str
    description: str
    skills: list
    speaks: str
    listed: str
    seen: Seen = Seen()
    needs: tuple = ()
    declares: tuple = ()
    signed: bool = False
    streaming: bool = False
    tags: str = ""
    takes: str = "text/plain"
    gives: str = "text/plain"
    version: str = "1.0.0"
    page: bool = True


class Case(NamedTuple):
    """One search and its judgments: right answers, tempting wrong ones, right ones shut out."""
    id: str
    q: str
    requirements: dict
    relevant: list
    distractors: list
    ineligible: list
    why: str


################ Tables

PUBLISHERS = {
    "Paperworks Studio": "paperworks.example",
    "Glasspane": "glasspane.example",
    "Northfold": "northfold.example",
    "Grand Parade Documents": "grand-parade.example",
    "Blot": "blot.example",
    "Tallow & Type": "tallow-and-type.example",
    "Kestrel Formdesk": "kestrel-formdesk.example",
    "Twohand Deeds": "twohand.example",
    "Pillarbox Lab": "pillarbox-lab.example",
    "Courier Lark": "courier-lark.example",
    "Probe & Daughters": "probe-and-daughters.example",
    "Registry Lane": "registry-lane.example",
    "Bellrope Markets": "bellrope.example",
    "Tillgate": "tillgate.example",
    "Latchkey Yard": "latchkey-yard.example",
    "São Bento Línguas": "sao-bento.example",
    "Sandglass Diary": "sandglass.example",
    "Hedgerow Logistics": "hedgerow.example",
    "Millrace Media": "millrace.example",
    "Wickfire Ops": "wickfire.example",
    "Cobble & Fork": "cobble-and-fork.example",
    "Stonemason Code": "stonemason-code.example",
    "Zoë Ångström": "zoe-angstrom.example",
}

INTERFACE_URLS = {
    "JSONRPC": "https://agents.{host}/{agent}/rpc",
    "GRPC": "https://grpc.{host}:443/{agent}",
    "HTTP+JSON": "https://agents.{host}/{agent}/v1",
}

# What `needs` and `declares` may name; {host} is the publisher's.
SCHEMES = {
    "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
    "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
    "basic": {"httpAuthSecurityScheme": {"scheme": "Basic"}},
    "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {
        "tokenUrl": "https://login.{host}/token",
        "scopes": {"agent:run": "Run the agent's skills"}}}}},
    "oidc": {"openIdConnectSecurityScheme": {
        "openIdConnectUrl": "https://login.{host}/.well-known/openid-configuration"}},
    "mtls": {"mtlsSecurityScheme": {"description": "Client certificates are issued by us."}},
}
SCOPES = {"oauth": ["agent:run"], "oidc": ["openid"]}

REQUIREMENT_KEYS = ("auth", "exclude_auth", "signed", "transport", "streaming", "tls",
                    "card_max_age_hours", "protocol_max_age_hours")


################ Listings: documents

LISTINGS = [
    Listing(
        101, "Paperworks Studio", "Paperworks Page Press",
        "Hand over HTML or Markdown and get a finished document back, with page numbers, running "
        "headers and embedded fonts. It does not merge or split existing files, and spreadsheets "
        "are not read.",
        [Skill("html-to-pdf", "HTML to PDF",
               "Generate a PDF from HTML and CSS, in any page size.",
               "pdf, html, conversion",
               ("Turn this web page into an A4 PDF",)),
         Skill("markdown-to-pdf", "Markdown to PDF",
               "Renders Markdown as a paginated PDF with a table of contents.",
               "pdf, markdown")],
        speaks="JSONRPC HTTP+JSON", signed=True, listed="2026-09-01", version="3.2.0",
        seen=Seen("2026-10-20 09:00", "2026-10-20 09:00", "2026-10-20 09:00"),
        tags="documents", takes="text/html, text/markdown", gives="application/pdf"),
    Listing(
        102, "Paperworks Studio", "Paperworks Form Filler",
        "Completes interactive forms. You supply the blank form and a set of named values; the "
        "same form is returned with those values in its fields. New documents are not designed "
        "here, and files are neither merged nor split.",
        [Skill("fillForm", "Fill in a PDF form",
               "Writes your values into the text fields, check boxes and lists of an existing "
               "form.",
               "pdf, forms",
               ("Put these 14 values into the attached tax form",)),
         Skill("listFields", "List the fields of a form",
               "Names every field of a form with its type and the values it allows.",
               "pdf, forms, inspection")],
        speaks="JSONRPC", needs=["key"], listed="2026-09-04", version="2.0.1",
        seen=Seen("2026-10-20 07:30", "2026-10-20 07:30", "2026-10-20 07:30"),
        tags="documents, forms", takes="application/pdf, application/json",
        gives="application/pdf, application/json"),
    Listing(
        103, "Paperworks Studio", "Paperworks Text Lifter",
        "Gets the words back out. Files that were born digital are parsed; scanned documents go "
        "through optical character recognition.",
        [Skill("extract_text", "extract_text",
               "Extracts the plain text of a PDF in reading order, page by page.",
               "pdf, text extraction"),
         Skill("ocr_scan", "ocr_scan",
               "Recognises the text of scanned pages in eleven scripts.",
               "ocr, scans")],
        speaks="JSONRPC", needs=["bearer"], signed=True, listed="2026-08-20", version="1.9.4",
        seen=Seen("2026-10-20 02:00", "2026-10-20 02:00 failed", "2026-10-20 02:00 failed"),
        tags="documents", takes="application/pdf, image/png"),
    Listing(
        104, "Glasspane", "Glasspane PDF Viewer",
        "A quiet viewer for shared screens: open a file, turn the pages, zoom, rotate. View "
        "only. It will never generate a PDF, fill in a form or edit anything, it cannot merge "
        "files, and copying or extracting text is switched off.",
        [Skill("show-page", "Show a page",
               "Displays one page of a PDF on the screen at the chosen zoom.",
               "pdf, viewer, preview",
               ("Open the minutes at page 12",))],
        speaks="HTTP+JSON", listed="2026-06-11", version="5.1.0",
        seen=Seen("2026-10-12 08:00", "2026-10-12 08:00", "2026-10-12 08:00"),
        tags="documents, viewers", takes="application/pdf", gives="image/png"),
    Listing(
        105, "Paperworks Studio", "Paperworks Invoice Press",
        "Invoices, credit notes and receipts for small businesses. Send the order lines, the tax "
        "rates and your logo; get back a numbered invoice as a PDF. Whether it is ever paid is "
        "not something we look at.",
        [Skill("create-invoice", "Create an invoice",
               "Generate a PDF invoice from order lines and taxes, totals added up, with a "
               "running number.",
               "invoice, pdf, billing",
               ("Make a PDF invoice for three days of consulting at 640 a day",))],
        speaks="HTTP+JSON", needs=["key"], signed=True, listed="2026-09-15", version="1.4.0",
        seen=Seen("2026-10-20 07:00", "2026-10-20 07:00", "2026-10-20 06:00"),
        tags="documents, accounting", takes="application/json", gives="application/pdf"),
    Listing(
        106, "Northfold", "Northfold Report Builder",
        "Tables in, reports out. Reads CSV files and spreadsheets and builds a laid-out report "
        "with charts, totals and a summary page. The free tier answers without any credentials; "
        "a key raises the limits.",
        [Skill("build-report", "Build a report",
               "Turns rows of figures into a paginated PDF report: tables, bar charts, subtotals "
               "by group.",
               "report, spreadsheet, csv, pdf",
               ("Here is our sales sheet; I need the monthly report as a PDF",))],
        speaks="JSONRPC", needs=["", "key"], streaming=True, listed="2026-10-02",
        version="0.9.0",
        seen=Seen("2026-10-20 11:00", "2026-10-20 11:00", "2026-10-20 11:00"),
        tags="documents, reporting", takes="text/csv", gives="application/pdf"),
    Listing(
        107, "Northfold", "Northfold Certificate Printer",
        "Course certificates, diplomas and membership cards from a list of names. Everybody gets "
        "a PDF of their own, ready for heavy paper; an expiry date can be printed on each.",
        [Skill("print-certificates", "Certificates for a class",
               "Produces one PDF certificate for each name on the list, with date and serial "
               "number, in the design you choose.",
               "certificate, diploma, pdf, print")],
        speaks="JSONRPC", needs=["oauth"], signed=True, listed="2026-07-30", version="2.3.0",
        seen=Seen("2026-10-19 06:00", "2026-10-19 06:00", "2026-10-20 10:00 failed"),
        tags="documents, education", gives="application/pdf"),
    Listing(
        108, "Grand Parade Documents", "Parade One – The Complete Document Experience",
        "Welcome to the future of beautiful business paper! Parade One is the award-winning, "
        "industry-leading, endlessly flexible studio for teams who believe that first "
        "impressions matter. From the first idea to the last comma, our platform brings your "
        "brand, your people and your story together in documents that customers actually enjoy "
        "reading: dazzling brochures, persuasive proposals, crystal-clear price lists. Your "
        "product photos shine on hand-painted page backgrounds. Whether you later e-mail the "
        "result, sign it, translate it, stream it to the boardroom screen or frame it on the "
        "wall is entirely up to you: we make it, you own it. Join thousands of happy teams and "
        "take your place in the parade today!",
        [Skill("compose", "Compose a document",
               "Generate a PDF brochure, proposal or price list from your content and one of 300 "
               "hand-drawn templates.",
               "brochure, proposal, design, pdf"),
         Skill("report-from-sheet", "Reports from spreadsheets",
               "Drop in a spreadsheet and watch a stunning PDF report grow around its rows, "
               "charts and all.",
               "report, spreadsheet, pdf")],
        speaks="JSONRPC GRPC HTTP+JSON", needs=["bearer"], signed=True, streaming=True,
        listed="2026-08-30", version="12.0.0",
        seen=Seen("2026-10-16 12:00", "2026-10-16 12:00", "2026-10-16 12:00"),
        tags="documents, design, marketing", gives="application/pdf"),
    Listing(
        109, "Blot", "PDF maker", "Text in, PDF out.",
        [Skill("make", "Make PDF", "Makes a PDF from text.", "pdf")],
        speaks="HTTP+JSON", declares=["key"], streaming=None, listed="2026-10-18", version="0.1",
        gives="application/pdf", page=False),
    Listing(
        110, "Tallow & Type", "Tallow Typesetter",
        "Fine typesetting for long works: theses, novels, hymn books with three indexes. TeX and "
        "DocBook sources come back as a print-ready file. Clients present a certificate that we "
        "issue when they join.",
        [Skill("typeset", "Typeset a book",
               "Sets TeX or DocBook sources into a print-ready PDF with index, footnotes and "
               "cross-references.",
               "typesetting, tex, pdf, print")],
        speaks="GRPC", needs=["mtls"], signed=True, listed="2026-05-06", version="4.7.2",
        seen=Seen("2026-10-20 10:00 failed", "2026-10-20 10:00 failed", None),
        tags="documents, publishing", takes="text/x-tex", gives="application/pdf"),
    Listing(
        111, "Kestrel Formdesk", "Kestrel Formdesk",
        "For town halls and insurers with shelves of paper. Kestrel reads the questions on an "
        "application form, matches them with what the applicant has told you, and enters the "
        "answers: in PDF forms as well as on the web. Signature boxes stay empty; signing is a "
        "matter for people.",
        [Skill("completeApplication", "completeApplication",
               "Fills the fields of a PDF or web form with an applicant's details, and asks back "
               "when an answer is missing.",
               "forms, pdf, data entry",
               ("Complete the parking permit application for Mrs Okafor",))],
        speaks="JSONRPC", needs=["key oauth"], signed=True, listed="2026-08-08",
        version="6.0.0", seen=Seen("2026-10-20 04:00", "2026-10-20 04:00", None),
        tags="forms, public sector", takes="application/pdf, application/json",
        gives="application/pdf"),
    Listing(
        112, "Tallow & Type", "Tallow Scan Reader",
        "Reads what is printed. Photographs, faxes and scanned documents become plain text, line "
        "by line as it is recognised. Handwriting with luck; layout is lost.",
        [Skill("recognise", "Text from scans and photos",
               "Optical character recognition (OCR) for scanned documents, signs and labels.",
               "ocr, scan, photo"),
         Skill("pdf-text", "Text of a PDF",
               "Pulls the embedded words out of a PDF as plain text; no recognition needed.",
               "pdf, text")],
        speaks="JSONRPC GRPC", needs=["key"], streaming=True, listed="2026-10-01",
        version="2.2.0",
        seen=Seen("2026-10-20 13:00", "2026-10-20 08:00", "2026-10-20 08:00"),
        takes="image/png, image/jpeg, application/pdf"),
    Listing(
        113, "Twohand Deeds", "Twohand",
        "Get it agreed the same afternoon. Each side reads the paper in the browser, initials "
        "every page and puts a name to it; we keep the sealed original and its history for ten "
        "years. Invitations are links that you share yourself: nothing is mailed.",
        [Skill("sign", "Sign a contract",
               "Collects a binding electronic signature from every party to a contract, lease or "
               "deed.",
               "e-signature, contract, legal")],
        speaks="JSONRPC", needs=["oauth"], listed="2026-09-22", version="1.1.0",
        seen=Seen("2026-10-19 22:00", "2026-10-19 22:00", "2026-10-19 22:00"),
        tags="legal", takes="application/pdf", gives="application/json"),

    ################ Listings: mail

    Listing(
        114, "Pillarbox Lab", "Pillarbox Address Check",
        "Tells whether an e-mail address can receive anything: spelling, domain, mail exchanger, "
        "and whether the mailbox exists. Nothing is ever sent to it.",
        [Skill("verify_address", "verify_address",
               "Verifies that an email address is valid and deliverable, without sending mail.",
               "email, verification, deliverability",
               ("Does ines@firm.example exist?",))],
        speaks="HTTP+JSON JSONRPC", signed=True, listed="2026-08-28", version="2.5.0",
        seen=Seen("2026-10-20 10:00", "2026-10-20 10:00", "2026-10-20 10:00"),
        tags="email", gives="application/json"),
    Listing(
        115, "Pillarbox Lab", "Pillarbox Outbox",
        "Outgoing mail for applications: receipts, welcome notes, password resets. Queued, "
        "retried and logged. Addresses are taken as they come; check that they are valid "
        "somewhere else first.",
        [Skill("send_message", "send_message",
               "Sends an email with a plain or HTML body and attachments.",
               "email, send, smtp")],
        speaks="GRPC JSONRPC", needs=["key"], listed="2026-08-28", version="2.5.0",
        seen=Seen("2026-10-19 12:00", "2026-10-20 06:00", "2026-10-20 06:00"),
        tags="email", takes="text/plain, text/html", gives="application/json"),
    Listing(
        116, "Courier Lark", "Larkpost",
        "Write once, and it reaches whoever should read it. Transactional mail from your own "
        "domain, with attachments (PDF, pictures, calendar files) up to 10 MB. Not for "
        "newsletters.",
        [Skill("deliver", "Deliver e-mail",
               "Delivers your message by e-mail to one or more people and reports what bounced.",
               "e-mail, messaging, delivery",
               ("Write to the customer that her parcel has left",))],
        speaks="JSONRPC", needs=["oauth"], signed=True, listed="2026-07-14", version="8.3.1",
        seen=Seen("2026-10-19 11:00", "2026-10-20 09:30", "2026-10-20 09:30"),
        tags="email, messaging"),
    Listing(
        117, "Probe & Daughters", "Mailbox Probe",
        "Is anybody home? Upload the list that you bought, inherited or found in a drawer, and "
        "we tell you which mailboxes are alive, which are dead and which are traps.",
        [Skill("clean-list", "Clean a mailing list",
               "Validates every e-mail address you give, one or fifty thousand, and marks it "
               "good, risky or gone.",
               "email validation, mailing list, bulk",
               ("Which of these 4,000 addresses still work?",))],
        speaks="HTTP+JSON", needs=["key"], listed="2026-10-05", version="0.8.0",
        seen=Seen("2026-10-20 05:00", None, None), takes="text/csv", gives="text/csv",
        page=False),

    ################ Listings: companies and money

    Listing(
        118, "Registry Lane", "Registry Lane Company Search",
        "Official records from the trade registers of 31 countries. Answers are JSON, never PDF "
        "extracts. Not a market data service: there are no share prices or stock quotes here.",
        [Skill("find-company", "Look up a company",
               "Finds a company in the trade register and returns its registration record: "
               "legal name, number, seat, date of founding.",
               "company, register, lookup",
               ("Is Hollin Bakery Ltd still registered?",)),
         Skill("list-directors", "Directors of a company",
               "Names the registered directors and since when they have served.",
               "company, directors")],
        speaks="JSONRPC HTTP+JSON", needs=[""], signed=True, streaming=True,
        listed="2026-06-25", version="3.0.0",
        seen=Seen("2026-10-20 03:00", "2026-10-20 03:00", "2026-10-19 20:00"),
        tags="companies, public records", gives="application/json"),
    Listing(
        119, "Bellrope Markets", "Bellrope Quote Board",
        "Prices from fourteen exchanges, pushed as they change.",
        [Skill("quotes", "Stock quotes",
               "Bid, ask and last price of a listed company's shares, updated without asking "
               "again.",
               "stocks, share prices, markets"),
         Skill("symbol", "Find a ticker symbol",
               "Gives the ticker symbol for a company name.",
               "company, ticker, symbol")],
        speaks="GRPC", needs=["key"], streaming=True, listed="2026-09-10", version="7.4.0",
        seen=Seen("2026-10-20 11:30", "2026-10-20 11:30", "2026-10-20 11:30"),
        tags="finance", gives="application/json"),
    Listing(
        120, "Tillgate", "Tillgate Payment Check",
        "Answers one question: has the money arrived? The answer comes from the bank's own "
        "ledger at the moment you ask.",
        [Skill("check_payment", "Payment check",
               "Looks up a payment by invoice number or reference and says whether it is settled, "
               "pending, refused or refunded.",
               "payments, invoice status, reconciliation",
               ("Has invoice 2026-118 been paid?",))],
        speaks="JSONRPC HTTP+JSON", needs=["oauth"], signed=True, listed="2026-08-17",
        version="2.1.0",
        seen=Seen("2026-10-20 08:00", "2026-10-20 08:00", "2026-10-20 08:00"),
        tags="finance, payments", gives="application/json"),
    Listing(
        121, "Tillgate", "Tillgate Handbook",
        "A patient guide to our manuals. It can explain the payments API, walk you through "
        "webhooks, refunds and test cards, and quote the paragraph that it relies on. It reads "
        "manuals only: it does not check, make or refund a payment. Every chapter can be had as "
        "a PDF from our web site.",
        [Skill("ask", "Ask the documentation",
               "Answers questions about payment endpoints, API keys, error codes and settlement "
               "files, with references.",
               "documentation, payments, developers",
               ("What does error 4107 mean when I check a payment?",))],
        speaks="HTTP+JSON", listed="2026-08-17", version="2.1.0",
        seen=Seen("2026-10-18 09:00", "2026-10-18 09:00", "2026-10-18 09:00"),
        tags="documentation"),

    ################ Listings: other fields

    Listing(
        122, "Latchkey Yard", "Latchkey",
        "Credentials for the people who build on your platform, each with an owner, a quota and "
        "a day on which it ends.",
        [Skill("issue", "Issue API keys",
               "Creates a new API key for a developer or a service, with the scopes you name.",
               "api keys, credentials, developer platform",
               ("Give the warehouse team a read-only key for 90 days",)),
         Skill("revoke", "Revoke API keys",
               "Withdraws a key at once and lists what last used it.",
               "api keys, revocation")],
        speaks="HTTP+JSON", needs=["basic"], signed=True, listed="2026-09-28", version="1.0.3",
        seen=Seen("2026-10-20 01:00", "2026-10-20 01:00", "2026-10-20 01:00"),
        tags="developer tools, security"),
    Listing(
        123, "São Bento Línguas", "Tradutor São Bento",
        "English, Spanish, French and Portuguese, in any direction, for letters, contracts, "
        "menus and love notes. Plain text, please: PDFs have to be turned into text first. "
        "Anybody may use it; regular customers present a key for longer texts.",
        [Skill("translate", "Translation",
               "Translates letters and other running text, and keeps the tone.",
               "translation, portuguese, spanish, french",
               ("How do I say 'with kind regards' in Portuguese?",))],
        speaks="JSONRPC HTTP+JSON", needs=["", "key"], listed="2026-07-01", version="3.1.0",
        seen=Seen("2026-10-20 09:45", "2026-10-20 09:45", "2026-10-20 09:45"),
        tags="language"),
    Listing(
        124, "São Bento Línguas", "Que língua?",
        "Names the language of a text from as little as one sentence: 120 languages, Portuguese "
        "from both sides of the ocean kept apart. It does not translate.",
        [Skill("detect", "Language detection",
               "Detects which language a text, a letter or a message is written in.",
               "language detection, portuguese")],
        speaks="JSONRPC", listed="2026-07-01", version="3.1.0",
        seen=Seen("2026-10-20 09:45", "2026-10-20 09:45", "2026-10-20 09:45"),
        tags="language", gives="application/json"),
    Listing(
        125, "Sandglass Diary", "Sandglass Booking",
        "Finds a free hour and takes it: doctors, hairdressers, meeting rooms. Changes and "
        "cancellations too. It sends no appointment reminders; Sandglass Nudge does.",
        [Skill("book_slot", "Book an appointment",
               "Reserves a slot in the diary of a practice or shop.",
               "appointments, booking, scheduling",
               ("Dentist, some morning next week",))],
        speaks="JSONRPC", needs=["oidc"], signed=True, listed="2026-09-12", version="4.0.0",
        seen=Seen("2026-10-19 18:00", "2026-10-19 18:00", "2026-10-19 18:00"),
        tags="calendar"),
    Listing(
        126, "Sandglass Diary", "Sandglass Nudge",
        "Fewer empty chairs. People hear from us the day before and again two hours before they "
        "are due, by text message or telephone.",
        [Skill("remind", "Appointment reminders",
               "Reminds people of a visit that is already in the diary.",
               "reminders, text message, no-shows")],
        speaks="JSONRPC", needs=["oidc"], listed="2026-09-12", version="4.0.0",
        seen=Seen("2026-10-19 18:00", "2026-10-19 18:00", "2026-10-19 18:00"),
        tags="calendar, messaging"),
    Listing(
        127, "Hedgerow Logistics", "Hedgerow Rounds",
        "Milk, parcels, meter readings: whoever has a round to drive each morning can have it "
        "drawn up here the night before.",
        [Skill("order-stops", "Plan a round",
               "Puts the stops of a delivery round in the best order and gives the route from "
               "each to the next.",
               "delivery, route planning, stops")],
        speaks="JSONRPC", needs=["key"], signed=True, listed="2026-08-02", version="1.6.0",
        seen=Seen("2026-10-20 06:30", "2026-10-20 06:30", "2026-10-20 06:30 failed"),
        tags="transport"),
    Listing(
        128, "Millrace Media", "Millrace Live",
        "Puts moving pictures in front of an audience. Upload a file or point us at a camera; "
        "the rest is plumbing, and the plumbing is ours. Captions are made elsewhere.",
        [Skill("broadcast", "Stream a video",
               "Carries a recorded or live video to any number of viewers, at the bit rate that "
               "each connection bears.",
               "video, live, broadcast")],
        speaks="HTTP+JSON", needs=["oauth"], signed=True, listed="2026-09-19", version="2.0.0",
        seen=Seen("2026-10-20 10:30", "2026-10-20 10:30", "2026-10-20 10:30"),
        tags="media", takes="video/mp4", gives="application/json"),
    Listing(
        129, "Millrace Media", "Millrace Captions",
        "Every word counts, and with Millrace Captions every word is counted, timed and credited. "
        "Our lovingly tuned speech-to-text engine follows dialogue, off-screen voices and even "
        "song lyrics, and has them on the page while the scene is still playing. Archive the "
        "text, search it, stream it beside the picture or have it translated by whomever you "
        "trust: great stories deserve to be read as well as heard, and great teams deserve to go "
        "home on time.",
        [Skill("transcribe", "Transcribe speech",
               "Writes down what is said in a video or a sound recording.",
               "video, transcription, speech to text"),
         Skill("caption", "Live captions",
               "Streams captions for a running broadcast, two seconds behind the speaker.",
               "captions, live, accessibility")],
        speaks="JSONRPC", declares=["key", "oauth"], signed=True, streaming=True,
        listed="2026-09-19", version="2.0.0",
        seen=Seen("2026-10-20 10:30", "2026-10-20 10:30", "2026-10-20 10:30"),
        tags="media, accessibility", takes="video/mp4, audio/wav"),
    Listing(
        130, "Wickfire Ops", "Expiry Lamp",
        "A small lamp that turns amber thirty days before the padlock goes. Point it at your "
        "hosts and forget about it.",
        [Skill("watch", "Certificate expiry",
               "Connects to a host, reads its TLS certificate and reports the day on which it "
               "runs out.",
               "tls, certificate, monitoring",
               ("How long is shop.example good for?",))],
        speaks="JSONRPC", listed="2026-04-03", version="0.4.0",
        seen=Seen("2026-10-20 11:00", "2026-10-20 11:00 failed", "2026-10-19 11:00 failed"),
        tags="operations, security", gives="application/json"),
    Listing(
        131, "Cobble & Fork", "Cobble Traffic",
        "What is moving and what is not, right now. No directions and no route planning.",
        [Skill("now", "Live traffic",
               "Current speed, queues and closures on a road or along a given route.",
               "traffic, roads, congestion")],
        speaks="GRPC JSONRPC", streaming=True, listed="2026-10-09", version="1.2.0",
        seen=Seen("2026-10-20 11:50", "2026-10-20 11:50", "2026-10-20 11:50"),
        tags="transport", gives="application/json"),
    Listing(
        132, "Stonemason Code", "Second Reader",
        "Opens your pull request the minute it lands and reads it as a tired but kindly "
        "colleague would. Twelve languages. It comments; it never pushes a commit or reformats "
        "a file.",
        [Skill("review", "Code review",
               "Goes through a change line by line and points out bugs, missing tests and unclear "
               "names.",
               "code review, pull request, bugs")],
        speaks="JSONRPC", needs=["bearer"], signed=True, listed="2026-08-31", version="5.5.0",
        seen=Seen("2026-10-15 16:00", "2026-10-15 16:00", "2026-10-15 16:00"),
        tags="developer tools"),
    Listing(
        133, "Zoë Ångström", "tidy",
        "I wrote this for myself and left the door open. It puts indentation, quotes and line "
        "breaks of source code in order, in nine languages, and changes nothing else. It has no "
        "opinion about your pull request; for a review, ask a person.",
        [Skill("format", "formatCode",
               "Formats a source file in the house style that you name.",
               "code, formatter, style")],
        speaks="HTTP+JSON", signed=True, listed="2026-03-17", version="0.3.3",
        seen=Seen("2026-08-01 00:00", None, None), page=False),
    Listing(
        134, "Cobble & Fork", "Cobble Ways",
        "The quickest way for vans, cargo bicycles and people on foot. Knows low bridges, school "
        "streets and where one may stop to unload.",
        [Skill("plan_route", "Plan a route",
               "Works out the best way through any number of stops, with time windows for "
               "deliveries.",
               "route planning, navigation, delivery",
               ("Eleven parcels, one van, back by four",))],
        speaks="JSONRPC GRPC", needs=["oauth"], listed="2026-10-09", version="1.2.0",
        seen=Seen("2026-10-20 07:00", "2026-10-20 07:00", "2026-10-20 06:00"),
        tags="transport", gives="application/json"),
]


################ Cases: documents

CASES = [
    Case(
        "pdf-generate", "generate a PDF", {},
        relevant=[101, 105, 106, 107, 108, 109, 110],
        distractors=[102, 103, 104],
        ineligible=[],
        why="Seven publishers make a new PDF: from HTML, order lines, tables, names, brochure "
            "copy, plain text or TeX. 102 writes into a form that exists, 103 takes text out, "
            "and 104 shows pages and says that it will never generate one."),
    Case(
        "pdf-no-api-key", "create PDF files without an API key", {},
        relevant=[101, 106, 107, 108, 110],
        distractors=[102, 104],
        ineligible=[105, 109],
        why="101 needs nothing, 106 works without its key, and 107, 108 and 110 ask for OAuth, a "
            "bearer token and a client certificate. 105 requires a key. 109 names a key scheme "
            "and no requirement, so that the key is what it needs."),
    Case(
        "pdf-report-open", "turn spreadsheet rows into a PDF report", {"auth": "none"},
        relevant=[106],
        distractors=[101, 107],
        ineligible=[108],
        why="106 reads spreadsheets, builds the report, and one of its two alternatives needs "
            "nothing. 108 builds such reports too but requires a bearer token. 101 says that it "
            "does not read spreadsheets; 107 prints a certificate for each name on a list."),
    Case(
        "pdf-grpc-mtls", "make PDFs over gRPC with mutual TLS", {},
        relevant=[110],
        distractors=[112],
        ineligible=[101, 105, 106, 107, 108, 109],
        why="Only 110 makes PDFs, has a gRPC interface and takes client certificates. 108 has "
            "gRPC but a bearer token; the other five have neither. 112 has gRPC and reads PDFs."),
    Case(
        "pdf-form-fill", "fill in a PDF form", {"exclude_auth": ["oauth2"]},
        relevant=[102],
        distractors=[101, 104],
        ineligible=[111],
        why="102 fills forms and asks for a key only. 111 fills them as well but needs its key "
            "and OAuth together. 104 says that it will not fill in a form; 101 makes documents "
            "and has no notion of fields."),
    Case(
        "scan-text-fresh-card", "get the text out of a scanned document",
        {"card_max_age_hours": 48},
        relevant=[103],
        distractors=[104, 129],
        ineligible=[112],
        why="103 recognises scanned pages and its card was read ten hours ago. 112 does so too, "
            "but its only card observation is dated after the clock and counts as not made. 104 "
            "switches text off; 129 turns speech into text."),
    Case(
        "pdf-text-https", "extract plain text from PDFs, working HTTPS required", {},
        relevant=[112],
        distractors=[101, 104],
        ineligible=[103],
        why="112 gives the embedded text of a PDF and its TLS was seen to work. 103 is made for "
            "this, but its last TLS observation failed. 104 says that extraction is off; 101 "
            "goes the other way, from text to PDF."),
    Case(
        "pdf-merge", "merge two PDF files into one", {},
        relevant=[],
        distractors=[101, 102, 104],
        ineligible=[],
        why="Nobody joins files. 101, 102 and 104 speak of merging only to say that they do not."),
    Case(
        "contract-sign", "sign a contract", {},
        relevant=[113],
        distractors=[111, 123],
        ineligible=[],
        why="Signing is the task here, not a property of the card: 113 collects signatures and "
            "its own card is unsigned. 111 leaves signature boxes empty; 123 translates "
            "contracts."),

    ################ Cases: mail

    Case(
        "email-verify", "check if an email address is valid", {"tls": True},
        relevant=[114],
        distractors=[115, 116],
        ineligible=[117],
        why="114 checks an address and its TLS works. 117 checks addresses too, but nobody has "
            "observed its TLS. 115 takes addresses as they come and tells you to check them "
            "elsewhere; 116 delivers mail and learns of a bad address when it bounces."),
    Case(
        "email-verify-grpc", "validate e-mail addresses over gRPC", {},
        relevant=[],
        distractors=[115],
        ineligible=[114, 117],
        why="Two publishers validate addresses and neither offers gRPC. 115 has gRPC and sends "
            "mail; it validates nothing."),
    Case(
        "email-send-fresh", "send an email to a customer, card checked in the last 24 hours", {},
        relevant=[115],
        distractors=[114, 126],
        ineligible=[116],
        why="115's card was read exactly 24 hours before the clock, which is still inside. 116 "
            "sends mail as well and misses by one hour. 114 makes a point of not sending; 126 "
            "sends text messages and telephones."),

    ################ Cases: companies and money

    Case(
        "company-records", "company registration records, not share prices",
        {"protocol_max_age_hours": 24},
        relevant=[118],
        distractors=[119],
        ineligible=[],
        why="118 returns records of the trade register and answered 16 hours ago. 119 knows "
            "company names too, but what it gives is what the search shuts out: prices."),
    Case(
        "stock-quotes", "stock quotes", {"streaming": True},
        relevant=[119],
        distractors=[118],
        ineligible=[],
        why="119 gives quotes and declares streaming. 118 declares streaming as well, and "
            "mentions stock quotes only to say that it has none."),
    Case(
        "payment-check", "check that an invoice has been paid, OAuth only", {},
        relevant=[120],
        distractors=[121, 105],
        ineligible=[],
        why="120 looks a payment up by invoice number and takes OAuth. 121 explains the manuals "
            "and says that it checks no payment; 105 makes invoices and does not look at whether "
            "they are paid."),
    Case(
        "payment-docs", "explain the payments API", {"transport": "HTTP+JSON"},
        relevant=[121],
        distractors=[120, 122],
        ineligible=[],
        why="121 explains the payments API from its manuals, over HTTP+JSON. 120 has that "
            "interface too, but performs a check and explains nothing; 122 hands out API keys."),

    ################ Cases: other fields

    Case(
        "translate-no-login", "translate a letter into Portuguese, no login", {},
        relevant=[123],
        distractors=[124, 108],
        ineligible=[],
        why="123 translates letters and one of its two alternatives needs nothing. 124 tells "
            "which language a letter is in and says that it does not translate; 108 uses the "
            "word in passing."),
    Case(
        "appointment-reminders", "appointment reminders", {"auth": "oidc"},
        relevant=[126],
        distractors=[125],
        ineligible=[],
        why="126 reminds people of appointments and takes OpenID Connect. 125 takes it as well, "
            "books appointments, and says that it sends no reminders."),
    Case(
        "video-stream", "stream a video", {"signed": True},
        relevant=[128],
        distractors=[129, 108],
        ineligible=[],
        why="Streaming is the task: 128 carries video to viewers, has a signed card, and does "
            "not declare protocol streaming. 129 does declare it, and transcribes video; 108 "
            "speaks of streaming in passing."),
    Case(
        "tls-expiry", "verify a TLS certificate's expiry date", {},
        relevant=[130],
        distractors=[107, 110],
        ineligible=[],
        why="130 reads a host's certificate and reports when it runs out. That its own TLS "
            "failed is no objection, since the search asks for no evidence. 107 prints "
            "certificates on paper with an expiry date; 110 asks its clients for one."),
    Case(
        "code-review-signed", "review my pull request for bugs, signed card only", {},
        relevant=[132],
        distractors=[107, 133],
        ineligible=[],
        why="132 reviews changes and has a signed card. 133 is signed too, but only formats code "
            "and sends you to a person for a review; the cards that 107 makes are for members of "
            "a club."),
    Case(
        "route-jsonrpc-responding",
        "plan a delivery route with several stops over JSON-RPC, answered in the last 6 hours",
        {},
        relevant=[134],
        distractors=[131],
        ineligible=[127],
        why="134 plans routes, has JSON-RPC, and answered exactly six hours before the clock. "
            "127 plans rounds over JSON-RPC, but its last protocol check failed. 131 reports "
            "traffic along a route that you already have."),
    Case(
        "photo-background", "remove the background from a product photo", {},
        relevant=[],
        distractors=[108, 112],
        ineligible=[],
        why="Nobody edits pictures. 108 boasts of product photos on painted backgrounds in its "
            "brochures; 112 reads the text in a photo."),
    Case(
        "api-keys-generate", "generate API keys for my developers", {},
        relevant=[122],
        distractors=[121, 105],
        ineligible=[],
        why="The keys are what is wanted, not how to sign in: 122 creates them for developers. "
            "121 answers questions about keys; 105 requires one, and creates invoices."),
]


################ From records to JSON

class FixtureError(ValueError):
    """Records that break a rule, a wrong option, or a file that cannot be read or written."""


def parts(text):
    """The pieces of a text with commas between them: "a, b" gives ["a", "b"]."""
    return [part.strip() for part in text.split(",") if part.strip()]


def slug(text):
    """`text` as a lower-case ASCII name with hyphens: "Que língua?" gives "que-lingua"."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def iso(day, hour="08:00"):
    """The time in ISO 8601, UTC: "2026-09-01" gives "2026-09-01T08:00:00+00:00"."""
    return f"{day}T{hour}:00+00:00"


def base64url(data):
    """`data` in base64url without padding, as in RFC 7515."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def signature_json(name, host):
    """A JSON Web Signature in shape only: no key stands behind it, and nobody can verify it."""
    header = {"alg": "ES256", "typ": "JOSE", "kid": f"{slug(name)}-2026",
              "jku": f"https://www.{host}/.well-known/jwks.json"}
    return {"protected": base64url(json.dumps(header, separators=(",", ":")).encode()),
            "signature": base64url(hashlib.sha512(f"{host} {name}".encode()).digest())}


def security_json(record, host):
    """The card's two security fields; neither when the card declares nothing."""
    named = dict.fromkeys([*" ".join(record.needs).split(), *record.declares])
    schemes = {name: json.loads(json.dumps(SCHEMES[name]).replace("{host}", host))
               for name in named}
    requirements = [{"schemes": {name: {"list": SCOPES.get(name, [])}
                                 for name in alternative.split()}}
                    for alternative in record.needs]
    return {**({"securitySchemes": schemes} if schemes else {}),
            **({"securityRequirements": requirements} if requirements else {})}


def skill_json(skill):
    """The A2A form of a Skill."""
    return {"id": skill.id, "name": skill.name, "description": skill.description,
            "tags": parts(skill.tags),
            **({"examples": list(skill.examples)} if skill.examples else {})}


def card_json(record):
    """The A2A 1.0 Agent Card of a Listing."""
    host = PUBLISHERS[record.publisher]
    return {
        "name": record.name,
        "description": record.description,
        "version": record.version,
        "provider": {"organization": record.publisher, "url": f"https://www.{host}/"},
        "supportedInterfaces": [
            {"url": INTERFACE_URLS[binding].format(host=host, agent=slug(record.name)),
             "protocolBinding": binding, "protocolVersion": "1.0"}
            for binding in record.speaks.split()],
        "capabilities": {} if record.streaming is None else {"streaming": record.streaming},
        **security_json(record, host),
        "defaultInputModes": parts(record.takes),
        "defaultOutputModes": parts(record.gives),
        "skills": [skill_json(skill) for skill in record.skills],
        **({"signatures": [signature_json(record.name, host)]} if record.signed else {}),
    }


def observation_json(text):
    """One look: "2026-10-20 09:00 failed" gives {"ok": False, "at": ...}."""
    day, hour, *outcome = text.split()
    return {"ok": outcome != ["failed"], "at": iso(day, hour)}


def listing_json(record):
    """The directory's entry for a Listing."""
    return {
        "id": record.id,
        "publisher": record.publisher,
        "listed_at": iso(record.listed),
        **({"url": f"https://directory.example/agents/{record.id}"} if record.page else {}),
        **({"tags": parts(record.tags)} if record.tags else {}),
        "card": card_json(record),
        "observations": {kind: observation_json(text)
                         for kind, text in record.seen._asdict().items() if text},
    }


def case_json(record):
    """The form of a Case; one without a right answer expects none."""
    return {"id": record.id, "q": record.q, "requirements": record.requirements,
            "judgments": {"relevant_ids": record.relevant,
                          "unacceptable_ids": record.distractors,
                          "constraint_ineligible_ids": record.ineligible,
                          "no_match_expected": not record.relevant,
                          "rationale": record.why}}


def fixtures():
    """The whole of fixtures.json as dicts and lists; raises FixtureError for bad records."""
    check_facts(LISTINGS, CASES)
    return {"schema_version": SCHEMA_VERSION, "benchmark": BENCHMARK, "version": VERSION,
            "clock": CLOCK, "notice": NOTICE,
            "listings": [listing_json(record) for record in LISTINGS],
            "cases": [case_json(record) for record in CASES]}


def encoded(data):
    """`data` as the bytes of a file: UTF-8, LF, two-space indent, one newline at the end."""
    return (json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()


################ Rules that the records keep

TIME = re.compile(r"2\d{3}-\d\d-\d\d \d\d:\d\d( failed)?")


def repeated(values):
    """The values that occur more than once, each once."""
    return list(dict.fromkeys(value for value in values if values.count(value) > 1))


def listing_faults(record):
    """What is wrong with a Listing: a list of texts."""
    schemes = {*" ".join(record.needs).split(), *record.declares}
    times = [f"{record.listed} 00:00", *filter(None, record.seen)]
    return [fault for holds, fault in (
        (type(record.id) is int, "the id is not an integer"),
        (record.publisher in PUBLISHERS, f"{record.publisher!r} is not in PUBLISHERS"),
        (record.name and record.description and record.skills, "no name, description or skill"),
        (all(all(skill[:4]) for skill in record.skills), "a skill lacks one of its four texts"),
        (not repeated([skill.id for skill in record.skills]), "two skills have one id"),
        (record.speaks and set(record.speaks.split()) <= set(INTERFACE_URLS),
         f"speaks is not of {', '.join(INTERFACE_URLS)}"),
        (schemes <= set(SCHEMES), f"needs or declares is not of {', '.join(SCHEMES)}"),
        (not (record.needs and record.declares), "has both needs and declares"),
        (all(TIME.fullmatch(text) for text in times), "a time is not like 2026-10-20 09:00"),
    ) if not holds]


def case_faults(record, known):
    """What is wrong with a Case: a list of texts; `known` is the set of listing ids."""
    judged = [*record.relevant, *record.distractors, *record.ineligible]
    return [fault for holds, fault in (
        (record.q.strip() and record.why.strip(), "no query or no rationale"),
        (set(record.requirements) <= set(REQUIREMENT_KEYS),
         f"a requirement is not of {', '.join(REQUIREMENT_KEYS)}"),
        (not repeated(judged), f"judged twice: {repeated(judged)}"),
        (set(judged) <= known, f"unknown ids: {sorted(set(judged) - known)}"),
    ) if not holds]


def check_facts(listings, cases):
    """None; raises FixtureError with every fault of the records, one a line."""
    known = {record.id for record in listings}
    faults = [
        *(f"PUBLISHERS: {host} does not end in .example" for host in PUBLISHERS.values()
          if not host.endswith(".example")),
        *(f"{record.id}: used twice" for record in [*listings, *cases]
          if [other.id for other in [*listings, *cases]].count(record.id) > 1),
        *(f"{record.id}: {fault}" for record in listings for fault in listing_faults(record)),
        *(f"{record.id}: {fault}" for record in cases for fault in case_faults(record, known)),
    ]
    if faults:
        raise FixtureError("\n".join(f"records: {fault}" for fault in dict.fromkeys(faults)))


################ Files

def shown(path):
    """The path with control characters made visible."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in path)


def write_file(path, data):
    """None; `path` then holds `data`. A failure leaves the old file as it was."""
    real = os.path.realpath(path)
    if os.path.exists(real) and not os.path.isfile(real):
        raise FixtureError(f"{shown(path)}: not a regular file; name another, or - to print")
    if os.path.exists(real) and os.path.samefile(real, __file__):
        raise FixtureError(f"{shown(path)}: is this script; name another file")
    temporary = f"{real}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, real)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def first_difference(old, new):
    """Where the bytes `old` first differ from the data `new`: "listings: 105"."""
    try:
        old = json.loads(old.decode())
        for key in new:
            if isinstance(new[key], str) or key == "schema_version":
                if old[key] != new[key]:
                    return key
                continue
            for there, here in itertools.zip_longest(old[key], new[key]):
                if there != here:
                    return f"{key}: {(here or there)['id']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return "its structure"
    return "its spelling: keys, their order, or white space"


################ Command

class Parser(argparse.ArgumentParser):
    """A parser whose errors are FixtureErrors, so that each is one line."""

    def error(self, message):
        raise FixtureError(f"{message}; --help shows the usage")


def parse(argv):
    """The options of a command line: `check` and `output`."""
    parser = Parser(prog="build_fixtures.py", description=__doc__, allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true",
                        help="compare the file with the records; exit 1 when it differs")
    parser.add_argument("--output", metavar="FILE|-", default=DEFAULT_OUTPUT,
                        help="file to write or to check (default: fixtures.json beside this "
                             "script); - prints")
    parser.add_argument("--version", action="version", version=f"build_fixtures.py {VERSION}")
    options = parser.parse_args(argv)
    if not options.output or options.check and options.output == "-":
        parser.error("--output needs a file name here")
    return options


def run(options):
    """The exit status of printing, checking or writing, which it does."""
    data = fixtures()
    content = encoded(data)
    path = options.output
    if path == "-":
        # The binary side, since a text stream would turn LF into CRLF on some systems.
        sys.stdout.buffer.write(content)
        return 0
    try:
        if options.check:
            with open(path, "rb") as file:
                old = file.read()
            if old != content:
                print(f"error: {shown(path)}: differs from the records; first at "
                      f"{first_difference(old, data)}", file=sys.stderr)
                return 1
        else:
            write_file(path, content)
    except OSError as error:
        raise FixtureError(f"{shown(path)}: {error.strerror or error}") from error
    print(f"{'same as' if options.check else 'wrote'} {shown(path)}: "
          f"{len(LISTINGS)} listings, {len(CASES)} cases")
    return 0


def main(argv=None):
    """The exit status of a command line: 0, 1, 2 or 130, as the manual above says."""
    try:
        try:
            return run(parse(argv))
        finally:
            # Here, so that a closed pipe shows itself inside the outer `try`.
            sys.stdout.flush()
    except FixtureError as error:
        print("\n".join(f"error: {line}" for line in str(error).splitlines()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        # Only standard output is left. The interpreter flushes it once more at exit, so that
        # it has to lead somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"error: standard output: {error.strerror or error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
