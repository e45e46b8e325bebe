"""Tests of judge.html: it is used as a judge uses it, with keys and files, in a real browser.

Without a browser only the tests of the file itself run; the others are skipped, with the reason.
"""

import base64
import contextlib
import copy
import hashlib
import html.parser
import io
import json
import os
import random
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import evaluate  # noqa: E402
import kit  # noqa: E402
import pool as pool_script  # noqa: E402
from webdriver import Browser, BrowserError, why_no_browser  # noqa: E402

PAGE = os.path.join(HERE, "judge.html")
ADDRESS = f"file://{PAGE}"
EXAMPLE = os.path.join(HERE, "example")
INDEPENDENT = ("kind-0", "conflicts-0", "helped_develop_ranker-0", "rankings_hidden-0",
               "assistance-0")
TRICKY = ('say "so" \\ here', "zwei\nZeilen", "\u05e9\u05dc\u05d5\u05dd \U0001f600 \u202eabc",
          "</script><b>&amp;")
BROWSER = None


def tearDownModule():
    """Close the browser of this module."""
    if BROWSER:
        BROWSER.close()


def read(path):
    """Return the bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def example(name):
    """Return the value of a file of the example."""
    return kit.parse_json(read(os.path.join(EXAMPLE, name)))


def with_digest(pool):
    """Return a pool with the digest that fits its candidates."""
    return {**pool, "pool_sha256": pool_script.pool_sha256_of(pool["queries"])}


################ The file itself

class Outline(html.parser.HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note a tag."""
        self.tags.append((tag, dict(attributes)))


class TheFile(unittest.TestCase):
    """The page is one file that asks for nothing, and its policy lets only itself run."""

    @classmethod
    def setUpClass(cls):
        cls.text = read(PAGE).decode()
        cls.tags = Outline(cls.text).tags

    def test_policy(self):
        policy = next(attributes["content"] for tag, attributes in self.tags
                      if attributes.get("http-equiv") == "Content-Security-Policy")
        wanted = {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
        for tag in ("script", "style"):
            inline = re.findall(f"<{tag}>(.*?)</{tag}>", self.text, re.DOTALL)
            self.assertEqual(len(inline), 1, f"there must be one inline {tag}")
            digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
            wanted[f"{tag}-src"] = f"'sha256-{digest}'"
        said = dict(part.split(None, 1) for part in policy.split(";"))
        self.assertEqual({key: value.strip() for key, value in said.items()}, wanted,
                         "the digests in the page's policy must be these: " + str(wanted))

    def test_nothing_from_outside(self):
        for tag, attributes in self.tags:
            with self.subTest(tag=tag, attributes=attributes):
                self.assertNotIn(tag, "link img iframe object embed base audio video svg".split())
                self.assertFalse({"src", "srcset", "style", "href", "action"} & attributes.keys())
                self.assertFalse([key for key in attributes if key.startswith("on")])
        for word in ("http-equiv=\"refresh\"", "@import", "url(", "fetch(", "XMLHttpRequest",
                     "WebSocket", "EventSource", "sendBeacon", "import(", "eval(", "innerHTML",
                     "outerHTML", "insertAdjacentHTML", "document.write", "alert(", "confirm(",
                     "prompt(", "new Function"):
            self.assertNotIn(word, self.text)
        self.assertIn('<meta name="referrer" content="no-referrer">', self.text)

    def test_lines(self):
        for number, line in enumerate(self.text.splitlines(), 1):
            self.assertLessEqual(len(line), 100, f"line {number}")


################ In a browser

@unittest.skipUnless(not why_no_browser(), why_no_browser())
class InBrowser(unittest.TestCase):
    """A fresh page in the one browser, a folder, and what a judge does."""

    def setUp(self):
        global BROWSER
        BROWSER = BROWSER or Browser()
        self.browser = browser = BROWSER
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        browser.size(1280, 800)
        browser.media()
        browser.open(ADDRESS)
        browser.run("localStorage.clear()")
        browser.reload()
        browser.log("browser")
        browser.requests()
        self.addCleanup(self.leave)
        self.js, self.press, self.wait = browser.run, browser.press, browser.wait

    def leave(self):
        """None; ends the page's work, so that it asks nothing and stores nothing."""
        with contextlib.suppress(BrowserError):
            self.js("work = null; localStorage.clear()")

    def file(self, name, value):
        """Write a value as JSON, or bytes; return the path."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(value if isinstance(value, bytes) else kit.encoded(value))
        return path

    def choose(self, path, field="pool-file"):
        """Choose a file and wait until the page has taken it."""
        self.js("$(arguments[0]).value = ''; window.taken = false; const old = showStart;"
                "showStart = words => { showStart = old; old(words); window.taken = true; }", field)
        self.browser.type(f"#{field}", path)
        self.wait("return window.taken")

    def begin(self, path=os.path.join(EXAMPLE, "pool.json"), name="Ann Example",
              answers=INDEPENDENT):
        """Choose a pool, fill in the form, begin."""
        self.choose(path)
        self.browser.click("#to-about")
        self.browser.type("#name", name)
        for answer in answers:
            self.browser.click(f"#{answer}")
        self.browser.click("#about-form button.main")
        self.wait("return view === 'judge'")

    def insert(self, text):
        """Put a text where the focus is, as a paste does."""
        self.js("document.execCommand('insertText', false, arguments[0])", text)

    def shown(self):
        """Return what is shown: query, candidate name, grade, reason, focus, status."""
        return self.js("""return {
            query: $('query-text').textContent, name: $('candidate-name').textContent,
            grade: $('now').textContent, reason: $('reason').value,
            focus: document.activeElement.id, status: $('status').textContent, view}""")

    def export(self, name):
        """Export by the button; return the file's bytes."""
        path = os.path.join(self.browser.downloads, name)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        self.js("if (view !== 'review') showReview()")
        self.browser.click("#export")
        data = self.browser.wait_for(
            lambda: os.path.exists(path) and read(path), f"no download {name}")
        return data

    def accepted(self, data):
        """Return the value of an export: canonical bytes, by the schema, and evaluate.py runs."""
        value = kit.parse_json(data)
        self.assertEqual(data, kit.encoded(value))
        self.assertEqual(kit.faults_of(value, "judgments"), [])
        return value

    def evaluate(self, *judgments):
        """Return (status, output) of evaluate.py over the example's rankings."""
        argv = ["--set", EXAMPLE, "--output", os.path.join(self.folder, "evaluation.json")]
        for name in ("candidate-a.json", "candidate-b.json"):
            argv += ["--rankings", os.path.join(EXAMPLE, name)]
        for path in judgments:
            argv += ["--judgments", path]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = evaluate.main(argv)
        return status, out.getvalue()


class Judging(InBrowser):
    """From the choice of the pool to a file that counts; nothing typed is lost or altered."""

    def test_a_whole_judging(self):
        self.begin()
        pool = example("pool.json")
        name_of = {candidate["name"]: (query["query_id"], candidate["candidate_id"])
                   for query in pool["queries"] for candidate in query["candidates"]}
        order, typed = [], {}
        for number in range(11):
            shown = self.shown()
            query = next(query["query_id"] for query in pool["queries"]
                         if query["text"] == shown["query"])
            identity = next(candidate["candidate_id"] for query in pool["queries"]
                            if query["text"] == shown["query"]
                            for candidate in query["candidates"]
                            if candidate["name"] == shown["name"])
            order.append((query, identity))
            self.assertEqual((shown["reason"], shown["grade"], shown["focus"]),
                             ("", "no grade", "candidate-name"))
            self.press(str(number % 3))
            reason = TRICKY[number] if number < len(TRICKY) else f"Reason {number}."
            self.insert(reason)
            typed[order[-1]] = number % 3, reason
            self.assertEqual(self.shown()["reason"], reason)
            if number == 5:
                self.browser.reload()
                self.browser.click("#start-works button.main")
                self.wait("return view === 'judge'")
                shown = self.shown()
                self.assertEqual((shown["grade"], shown["reason"]), ("grade 2", reason))
                self.press("r")
            self.press("Enter")
        self.assertEqual(self.shown()["view"], "review")
        self.assertEqual(len(set(order)), len(name_of) if len(name_of) > 10 else 11)
        self.assertIn("Nothing is missing", self.browser.text("#review-sum"))
        in_pool = [(query["query_id"], candidate["candidate_id"]) for query in pool["queries"]
                   for candidate in query["candidates"]]
        self.assertNotEqual(order, in_pool)                                 # shuffled,
        self.assertEqual([one[0] for one in order], [one[0] for one in in_pool])    # in a query

        value = self.accepted(self.export("judgments-ann-example.json"))
        self.assertEqual(list(value), list(example("judge-one.json")))
        self.assertEqual(value["judge"], {"name": "Ann Example", "kind": "human"})
        self.assertEqual(value["disclosure"], {
            "conflicts": "none", "helped_develop_ranker": False, "rankings_hidden": True,
            "assistance": "none"})
        self.assertTrue(value["complete"])
        self.assertEqual([(one["query_id"], one["candidate_id"]) for one in value["judgments"]],
                         in_pool)
        self.assertEqual({(one["query_id"], one["candidate_id"]): (one["grade"], one["reason"])
                          for one in value["judgments"]}, typed)
        status, out = self.evaluate(
            os.path.join(self.browser.downloads, "judgments-ann-example.json"),
            os.path.join(EXAMPLE, "judge-two.json"))
        self.assertEqual(status, 0, out)
        self.assertIn("evaluated", out)

    def test_an_earlier_file_comes_back_byte_for_byte(self):
        path = os.path.join(EXAMPLE, "judge-two.json")
        self.choose(path, "work-file")
        self.choose(os.path.join(EXAMPLE, "pool.json"))
        self.browser.click("#to-about")
        self.browser.click("#about-form button.main")
        self.wait("return view === 'judge'")
        self.assertEqual(self.shown()["status"], "11 grades found.")
        self.assertEqual(self.export("judgments-invented-judge-two.json"), read(path))

    def test_half_a_file_and_the_work_in_the_browser(self):
        half = example("judge-one.json")
        half["complete"] = False
        half["judgments"] = half["judgments"][:4]
        half["judgments"][3].update(grade=None, reason="Half a thought")
        self.choose(os.path.join(EXAMPLE, "pool.json"))
        self.choose(self.file("half.json", half), "work-file")
        self.browser.click("#to-about")
        self.browser.click("#about-form button.main")
        self.wait("return view === 'judge'")
        value = self.accepted(self.export("judgments-invented-judge-one.json"))
        self.assertFalse(value["complete"])
        self.assertEqual(value["judgments"][:4], half["judgments"])
        self.assertTrue(all(one["grade"] is None for one in value["judgments"][4:]))
        # A file that says something else is not taken, nor dropped, without a question.
        other = copy.deepcopy(half)
        other["judgments"][0]["grade"] = 0
        for answer, grade in ((0, 2), (2, 2), (1, 0)):
            self.browser.reload()
            self.choose(self.file("other.json", other), "work-file")
            self.browser.click("#to-about")
            self.browser.click("#about-form button.main")
            self.wait("return $('ask').open")
            self.assertIn("differs from the file in 1 candidate", self.browser.text("#ask-text"))
            self.browser.click(f"#ask-answers button:nth-child({answer + 1})")
            self.wait("return view === 'judge'")
            value = self.accepted(self.export("judgments-invented-judge-one.json"))
            self.assertEqual(value["judgments"][0]["grade"], grade)

    def test_an_unfinished_export_says_what_it_leaves_out(self):
        self.begin()
        # (what is put in, what the file holds)
        cases = [
            (("2", "Fits.", "https://a.example/x"), (2, "Fits.", "https://a.example/x")),
            (("1", "", ""), (None, "", "")),
            (("", "Only a thought", ""), (None, "Only a thought", "")),
            (("0", "Ask me@example.org", ""), (None, "", "")),
            (("u", "Cannot tell", ""), (None, "Cannot tell", "")),
            (("2", "Says so", "javascript:alert(1)"), (2, "Says so", "")),
            (("2", "Says so", "http://192.168.1.2/"), (2, "Says so", "")),
            (("0", "\x85\u2003", ""), (None, "\x85\u2003", "")),
        ]
        wanted = {}
        for (key, reason, evidence), result in cases:
            wanted[self.js("return places[here()].id")] = result
            if key:
                self.press(key)
            else:
                self.press("r")
            self.insert(reason)
            self.press("Escape")
            self.press("e")
            self.insert(evidence)
            self.press("Escape")
            self.press("n")
        self.press("g")
        issues = self.js("return [...document.querySelectorAll('#issues h4')]"
                         ".map(one => one.textContent)")
        self.assertEqual(sorted(issues), [
            "A grade without a reason: 2",
            "The evidence holds what must not be published: 1",
            "The evidence is no http or https address: 1",
            "The reason holds what must not be published: 1",
            "Unsure, so without a grade: 1",
            "Without a grade: 4"])
        self.assertIn("2 grades without a reason become no grade; 1 reason is left out, with "
                      "its grade; 2 addresses of evidence", self.browser.text("#review-loss"))
        self.browser.click("#issues li button")     # jumps
        self.assertEqual(self.shown()["view"], "judge")
        value = self.accepted(self.export("judgments-ann-example.json"))
        self.assertFalse(value["complete"])
        found = {f"{one['query_id']} {one['candidate_id']}":
                 (one["grade"], one["reason"], one["evidence_url"]) for one in value["judgments"]}
        self.assertEqual({key: found[key] for key in wanted}, wanted)
        status, out = self.evaluate(os.path.join(self.browser.downloads,
                                                 "judgments-ann-example.json"))
        self.assertEqual(status, 3, out)

    def test_details(self):
        self.choose(os.path.join(EXAMPLE, "pool.json"))
        self.assertIn("Evidence of nothing", self.browser.text("#start-pool"))
        self.browser.click("#to-about")
        self.assertEqual(self.js("return document.querySelectorAll('#about :checked').length"), 0)
        submit = "#about-form button.main"
        self.browser.click(submit)
        self.assertIn("give a name", self.browser.text("#about-fault"))
        self.browser.type("#name", "me@example.org")
        self.browser.click(submit)
        self.assertIn("Please answer: Who grades?", self.browser.text("#about-fault"))
        for answer in INDEPENDENT:
            self.browser.click(f"#{answer}")
        self.assertIn("your judgments count.", self.browser.text("#counts"))
        self.browser.click(submit)
        self.assertIn("take out an e-mail address", self.browser.text("#about-fault"))
        self.js("$('name').value = ''")
        self.browser.type("#name", "\u00c9va / ..\\Nov\u00e1k")
        for answer, why in (("kind-1", "not a person alone"), ("conflicts-1", "conflict"),
                            ("helped_develop_ranker-1", "helped to develop"),
                            ("rankings_hidden-1", "not hidden")):
            self.browser.click(f"#{answer}")
            self.assertIn(why, self.browser.text("#counts"))
            self.assertIn("do not count", self.browser.text("#counts"))
        self.browser.click(submit)
        self.assertIn("What ties you?", self.browser.text("#about-fault"))
        self.browser.type("#conflicts-text", "I sell one.")
        self.browser.click(submit)
        self.wait("return view === 'judge'")
        value = self.accepted(self.export("judgments-eva-novak.json"))
        self.assertEqual(value["judge"], {"name": "\u00c9va / ..\\Nov\u00e1k", "kind": "model"})
        self.assertEqual(value["disclosure"], {
            "conflicts": "I sell one.", "helped_develop_ranker": True, "rankings_hidden": False,
            "assistance": "none"})


class Keys(InBrowser):
    """One key does one thing, and none does anything while a judge types."""

    def test_keys(self):
        self.begin()
        first = self.shown()["name"]
        # (keys, held, what is shown then)
        for keys, held, wanted in (
                ("2", (), {"grade": "grade 2", "focus": "reason"}),
                ("012unpgre?", (), {"grade": "grade 2", "name": first, "focus": "reason",
                                    "reason": "012unpgre?"}),
                (["Backspace"], (), {"grade": "grade 2", "reason": "012unpgre"}),
                (["Escape"], (), {"focus": "candidate-name"}),
                ("1", ("Control",), {"grade": "grade 2"}), ("1", ("Meta",), {"grade": "grade 2"}),
                ("n", ("Alt",), {"name": first}),
                ("e", (), {"focus": "evidence"}), ("1n", (), {"grade": "grade 2", "name": first}),
                (["Escape"], (), {"focus": "candidate-name"}),
                ("n", (), {"grade": "no grade", "reason": "", "focus": "candidate-name"}),
                ("u", (), {"grade": "unsure", "focus": "reason", "reason": ""}),
                (["Escape"], (), {}),
                (["Backspace"], (), {"grade": "no grade"}),
                ("0", (), {"grade": "grade 0"}),
                ("1", ("Alt",), {"grade": "grade 0", "reason": "Names another operation"}),
                (["Escape"], (), {}), ("p", (), {"name": first, "reason": "012unpgre"}),
                (["Backspace"], (), {"grade": "no grade", "reason": "Names another operation"}),
                (["Backspace"], (), {"name": first, "grade": "no grade", "reason": "012unpgre"}),
                (["Backspace"], (), {"name": first, "grade": "no grade"}),
                (["r"], (), {"focus": "reason"}), (["Enter"], (), {"name": first}),
                (["Escape"], (), {}), ("g", (), {"view": "review"}), ("g", (), {"view": "judge"}),
        ):
            self.press(*keys, held=held)
            shown = self.shown()
            self.assertEqual({key: shown[key] for key in wanted}, wanted, (keys, held))
        self.press("?")
        self.assertTrue(self.js("return $('help').open"))
        self.press("2")
        self.browser.click("#single")
        self.press("Escape")
        self.press("2")
        self.assertEqual((self.js("return $('help').open"), self.shown()["grade"]),
                         (False, "no grade"))

    def test_every_key_has_a_button(self):
        self.begin()
        for button, wanted in (("#grade-2", "grade 2"), ("#grade-1", "grade 1"),
                               ("#grade-0", "grade 0"), ("#grade-unsure", "unsure")):
            self.browser.click(button)
            self.assertEqual(self.shown()["grade"], wanted)
            self.assertEqual(self.js("return document.querySelectorAll("
                                     "'#grades [aria-pressed=true]').length"), 1)
        texts = self.js("return [...document.querySelectorAll('#grades button, #tools button')]"
                        ".map(one => one.textContent)")
        self.assertEqual(texts, ["2 Fits", "1 Partly", "0 Unrelated", "Unsure u", "Previous p",
                                 "Next n", "Take back Backspace", "Overview, export g",
                                 "Next ungraded"])
        self.js("$('reason').value = ''")
        self.browser.click("#common button:nth-of-type(2)")
        self.assertEqual(self.shown()["reason"], "The linked page cannot be read")

    def test_a_composition_is_kept(self):
        self.begin()
        self.press("1")
        for text in ("\u65e5", "\u65e5\u672c"):
            self.browser.cdp("Input.imeSetComposition", text=text, selectionStart=len(text),
                             selectionEnd=len(text))
        self.browser.cdp("Input.insertText", text="\u65e5\u672c")
        self.js("$('reason').setRangeText('\ud83d\ude00'.slice(0, 1))")
        self.insert("x")
        self.assertEqual(self.shown()["reason"].replace("x", ""), "\u65e5\u672c\ufffd")
        self.press("Escape")
        value = self.accepted(self.export("judgments-ann-example.json"))
        self.assertEqual([one["reason"] for one in value["judgments"] if one["reason"]],
                         [self.js("return $('reason').value")])
        self.js("backToJudging(); $('reason').value = '\U0001f600'.repeat(4000) + 'abc';"
                "typed($('reason'))")
        self.accepted(self.export("judgments-ann-example.json"))


class Files(InBrowser):
    """A file that is not right is refused, in one line that names it, the place and the rule."""

    def test_pools_that_are_refused(self):
        good = example("pool.json")

        def but(change):
            value = copy.deepcopy(good)
            change(value)
            return value

        def candidate(value):
            return value["queries"][0]["candidates"][0]

        cases = [
            (b"\xef\xbb\xbf{}", "byte order mark"), (b"\xff{}", "not UTF-8"), (b"{", "not JSON"),
            (b"[]", "schema: must be"), (b'{"schema": "ranking/1"}', "schema: must be"),
            (b"null", "schema: must be"),
            (but(lambda v: v.update(depth=0)), "depth: must be from 1 to 1000, not 0"),
            (but(lambda v: v.update(depth="9")), "depth: must be a whole number"),
            (but(lambda v: v.update(extra=1)), "extra: is no key of this format"),
            (but(lambda v: v.update(version="x" * 51)), "version: must be text of at most 50"),
            (but(lambda v: v.update(queries=[])), "queries: must hold at least 1"),
            (but(lambda v: v.pop("set_id")), "set_id: is missing"),
            (but(lambda v: v.update(invented="by a@example.org")), "invented: holds an e-mail"),
            (but(lambda v: v["queries"][0].update(text=None)), "queries[0].text: must be text"),
            (but(lambda v: v["queries"][0]["evidence_policy"].update(cutoff="")),
             "queries[0].evidence_policy.cutoff: must not be empty"),
            (but(lambda v: candidate(v).update(candidate_id="A" * 16)),
             "queries[0].candidates[0].candidate_id: must match"),
            (but(lambda v: candidate(v)["skills"][0].update(name="n" * 201)),
             "skills[0].name: must be text of at most 200 characters, not 201"),
            (but(lambda v: v["queries"][1].update(query_id="pdf-report")), "occurs twice"),
            (but(lambda v: v["queries"][0]["candidates"].append(candidate(v))), "occurs twice"),
            (but(lambda v: v["queries"].pop()), "pool_sha256: does not fit"),
            (kit.encoded(good).replace(b"Larkpost", b"\\ud800"), "half of a surrogate pair"),
        ]
        for number, (value, wanted) in enumerate(cases):
            with self.subTest(wanted=wanted, number=number):
                self.choose(self.file(f"bad-{number}.json", value))
                said = self.browser.text("#start-fault")
                self.assertTrue(said.startswith(f"bad-{number}.json: "), said)
                self.assertIn(wanted, said)
                self.assertNotIn("\n", said)
                self.assertFalse(self.js("return pool"))
        emoji = but(lambda v: candidate(v)["skills"][0].update(name="\U0001f600" * 200))
        self.choose(self.file("good.json", emoji))
        self.assertEqual(self.browser.text("#start-fault"), "")

    def test_judgments_that_are_refused(self):
        self.choose(os.path.join(EXAMPLE, "pool.json"))
        good = example("judge-one.json")
        cases = [
            ({**good, "pool_sha256": "0" * 64}, "pool_sha256: is that of another pool"),
            ({**good, "version": "0.9"}, "version: is that of another pool"),
            ({**good, "judgments": good["judgments"] + good["judgments"][:1]}, "is judged twice"),
            ({**good, "judgments": [{**good["judgments"][0], "candidate_id": "0" * 16}]},
             "is not in the pool"),
            ({**good, "judgments": [{**good["judgments"][0], "grade": 3}]},
             "judgments[0].grade: must be one of 0, 1, 2,"),
        ]
        for value, wanted in cases:
            self.choose(self.file("earlier.json", value), "work-file")
            said = self.browser.text("#start-fault")
            self.assertTrue(said.startswith("earlier.json: ") and wanted in said, said)
            self.assertFalse(self.js("return earlier"))

    def test_the_page_knows_the_schemas(self):
        def rules(value):
            """Return a schema without its notes, $ref resolved, in any order of keys."""
            if isinstance(value, list):
                return [rules(one) for one in value]
            if not isinstance(value, dict):
                return value
            if "$ref" in value:
                return rules(root["$defs"][value["$ref"].rpartition("/")[2]])
            return {key: rules(one) for key, one in value.items() if key not in kit.NOTES
                    or not isinstance(one, (str, dict)) or (key != "$defs"
                                                            and not isinstance(one, str))}

        for kind, shape in self.js("return SHAPES").items():
            root = kit.schema(kind)
            self.assertEqual(rules(shape), rules(root), kind)

    def test_same_findings_and_digests_as_the_kit(self):
        chance = random.Random(5)
        parts = ["a@b.co", "@", "me", "://u:p@h", "http", "sk-", "sk_live_", "a1" * 10, "ghp_",
                 "github_pat_", "glpat-", "akia", "xoxb-", "aiza", "eyj", "e" * 9, ".", " ", "\n",
                 "-----BEGIN RSA PRIVATE KEY", "bearer ", "token", "=", ":", "1.2.3.4", "01.2.3.4",
                 "localhost", ".local", ".home.arpa", "::1", "fe80::", "a:b", "1:2:3:4:5:6:7:8",
                 "\u00e9", "\u2003", "key: ", "12345678x", "x", "/", "2001:db8::1.2.3.4", "::",
                 "256.1.1.1", "\U0001f600", "_", "-", "12:30:45", "C:\\", "std::x"]
        texts = parts + ["".join(chance.choices(parts, k=chance.randint(2, 6)))
                         for _ in range(6000)]
        found = self.js("return arguments[0].map(privateFindings)", texts)
        for text, here in zip(texts, found):
            self.assertEqual(here, kit.private_findings(text), repr(text))
        self.assertGreater(len({tuple(one) for one in found}), 8)
        sizes = [*range(0, 130), 1000, 100_000]
        digests = self.js("return arguments[0].map(n => digest('x'.repeat(n)))", sizes)
        self.assertEqual(digests, [kit.sha256(b"x" * size) for size in sizes])


class Keeping(InBrowser):
    """An afternoon's work survives what a browser does to it, or the judge is warned."""

    def test_a_browser_that_stores_nothing(self):
        for script in ("Object.defineProperty(window, 'localStorage', "
                       "{get() { throw new Error('no'); }})",
                       "Storage.prototype.setItem = () => { throw new Error('full'); }"):
            added = self.browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=script)
            try:
                self.browser.reload()
                self.assertIn("Not saved in this browser", self.browser.text("#banner"))
                self.begin()
                self.press("2", *"Fits", "Enter")
                self.assertIn("changes since the last export", self.browser.text("#banner"))
                for number in range(20):
                    self.press("r", "x", "Escape")
                self.assertIn("please export now", self.shown()["status"])
                value = self.accepted(self.export("judgments-ann-example.json"))
                self.assertEqual(sum(one["grade"] == 2 for one in value["judgments"]), 1)
                self.assertIn("0 changes since", self.browser.text("#banner"))
                self.js("work = null")
            finally:
                self.browser.cdp("Page.removeScriptToEvaluateOnNewDocument",
                                 identifier=added["identifier"])

    def test_a_store_that_is_full(self):
        self.begin()
        self.js("let text = 'x'.repeat(1 << 20), n = 0;"
                "for (; text; text = text.slice(0, text.length >> 1))"
                "  try { for (;;) { localStorage.setItem('fill' + n, text); n++; } } catch {}")
        self.press("2", *"Fits well, as it says", "Enter")
        self.press("1")
        self.insert("A longer reason than the pool leaves room for. " * 70)
        self.press("Escape")
        self.press("n")
        # The copy of the pool gave way to the work.
        self.assertIsNone(self.js("return localStorage.getItem('judging/1 pool')"))
        self.js("let text = 'x'.repeat(1 << 16), n = 0;"
                "for (; text; text = text.slice(0, text.length >> 1))"
                "  try { for (;;) { localStorage.setItem('more' + n, text); n++; } } catch {}")
        self.press("0")
        self.insert("One reason more. " * 100)
        self.press("Escape", "p")
        self.assertIn("Not saved in this browser", self.browser.text("#banner"))
        self.js("for (const key of Object.keys(localStorage))"
                "  if (/^(fill|more)/.test(key)) localStorage.removeItem(key)")
        self.press("n")
        self.assertEqual(self.browser.text("#banner"), "")

    def test_two_tabs(self):
        self.begin()
        self.press("2", *"One", "Enter")
        first, second = self.browser.new_tab()
        try:
            self.browser.open(ADDRESS)
            go_on = "#start-works button.main"
            self.browser.click(go_on)
            self.wait("return $('ask').open")
            self.assertIn("open in another tab", self.browser.text("#ask-title"))
            self.browser.click("#ask-answers button:nth-child(2)")
            self.assertEqual(self.shown()["view"], "start")
            self.browser.click("#start-works button:nth-of-type(2)")
            self.wait("return $('ask').open")
            self.browser.click("#ask-answers button:first-child")
            self.wait("return $('status').textContent.startsWith('Not deleted')")
            self.browser.click(go_on)
            self.wait("return $('ask').open")
            self.browser.click("#ask-answers button:first-child")
            self.wait("return view === 'judge'")
            self.press("1", *"Two", "Enter")
            self.browser.switch(first)
            self.wait("return view === 'stopped'")
            self.press("0")
            self.js("save()")
            stored = "return Object.values(storedWork(Object.keys(localStorage).find(" \
                     "key => key.includes(' work '))).entries).map(one => one.reason)"
            self.assertEqual(sorted(self.js(stored)), ["One", "Two"])
            # A tab that has gone leaves no lock behind.
            self.browser.switch(second)
        finally:
            self.browser.switch(second)
            self.browser.close_tab()
            self.browser.switch(first)
        self.browser.reload()
        self.browser.click("#start-works button.main")
        self.wait("return view === 'judge' || $('ask').open")
        self.assertEqual(self.shown()["view"], "judge")

    def test_delete(self):
        self.begin()
        self.press("2", *"One", "Enter", "g")
        for answer, left in ((2, True), (1, False)):
            self.browser.click("#delete")
            self.assertIn("Files that you exported stay", self.browser.text("#ask-text"))
            self.browser.click(f"#ask-answers button:nth-child({answer})")
            self.wait("return !$('ask').open")
            self.wait(f"return Boolean(localStorage.length) === {json.dumps(left)}")
        self.browser.reload()
        self.assertEqual(self.js("return [view, localStorage.length]"), ["start", 0])


class Hostile(InBrowser):
    """Whatever a pool holds is shown as text, asks for nothing, and moves nothing."""

    def test_hostile_pool(self):
        pool = example("pool.json")
        markup = "<img src=x onerror=alert(1)><script>alert(2)</script>&lt;\"'><svg onload=alert(3)>"
        query = pool["queries"][0]
        query.update(text=markup, need="\u202e" + "n" * 5000, requirements_text="w" * 300)
        query["evidence_policy"].update(what_counts_as_2=markup, cutoff="\u2066\u200b\u2028x\0")
        long = "<b>" + "lang " * 20_000
        urls = ["javascript:alert(4)", "data:text/html,<script>alert(5)</script>",
                "file:///etc/passwd", "HTTPS://OK.example/\u202e?q=" + "u" * 400, "//x.example",
                "https://ok.example/\"><img src=x>", "https://", " https://x.example", "http:a"]
        for candidate in query["candidates"]:
            candidate.update(
                name=markup + "\u202e" + "N" * 500, declaration=long, evidence=urls * 3,
                url="javascript:alert(6)", skills=[
                    {"name": "\u2067" * 50, "description": "d" * 4000 if n else markup}
                    for n in range(60)])
        self.begin(self.file("hostile.json", with_digest(pool)), "\u202e<b>Ann</b>")
        facts = self.js("""
            const all = selector => [...document.querySelectorAll(selector)];
            return {made: all('main img, main svg, main script, main iframe, main b').length,
                query: $('query-text').textContent, name: $('candidate-name').textContent,
                links: all('a').map(one => [one.href, one.rel, one.target, one.referrerPolicy]),
                unfold: all('.unfold').map(one => one.textContent),
                wide: document.documentElement.scrollWidth}""")
        self.assertEqual(facts["made"], 0)
        self.assertEqual(facts["query"], markup)
        self.assertEqual(facts["name"], f"{markup}U+202E{'N' * 500}")
        self.assertEqual(facts["wide"], 1280)
        self.assertEqual(len(facts["links"]), 1)
        for href, *rest in facts["links"]:
            self.assertRegex(href, "^https://ok.example/")
            self.assertEqual(rest, ["noopener noreferrer", "_blank", "no-referrer"])
        self.assertIn("Show all 100003 characters", facts["unfold"])
        self.js("for (const one of document.querySelectorAll('.unfold')) one.click()")
        self.assertEqual(self.js("return $('candidate-text').firstChild.textContent"), long)
        self.assertIn("U+2067 \u00d7 50", self.js("return $('candidate-text').textContent"))
        self.assertIn("U+2066U+200BU+2028xU+0000", self.js("return $('rules').textContent"))
        self.assertEqual(self.js("return document.querySelectorAll('a').length"), 3)
        self.browser.size(360, 740)
        self.assertEqual(self.js("return document.documentElement.scrollWidth"), 360)
        self.press("2")
        self.press("1", held=["Alt"])
        self.press("Enter", "Escape", "g")
        self.assertEqual(self.js("return document.documentElement.scrollWidth"), 360)
        self.accepted(self.export("judgments-b-ann-b.json"))
        with self.assertRaisesRegex(BrowserError, "no such alert"):
            self.browser.get("/alert/text")
        self.assertEqual([entry["message"] for entry in self.browser.log("browser")], [])
        asked = {one for one in self.browser.requests() if not one.startswith("blob:")}
        self.assertLessEqual(asked, {ADDRESS})


LOW_CONTRAST = """
    const numbers = color => {
      const all = color.match(/[\\d.]+/g).map(Number);
      return all.length === 3 ? [...all, 1] : all;
    };
    const light = color => {
      const [r, g, b] = color.slice(0, 3).map(c => c / 255).map(
        c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
      for (let one = element; one; one = one.parentElement) {
        const color = numbers(getComputedStyle(one).backgroundColor);
        if (color[3] === 1) return color;
      }
      return [255, 255, 255, 1];
    };
    const seen = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() &&
      ([...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()) ||
       one.matches('input, textarea')));
    const low = [];
    for (const one of seen) {
      const [a, b] = [numbers(getComputedStyle(one).color), behind(one)].map(light);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) low.push([one.tagName, one.id, one.textContent.slice(0, 30), ratio]);
    }
    return [seen.length, low];"""
VIEWS = ("start", "about", "judge", "review", "help", "ask")


class Access(InBrowser):
    """Each view works by keyboard and screen reader, light and dark, narrow, large, on paper."""

    def views(self):
        """Yield each view's name while it is shown, with a pool and some work."""
        self.choose(os.path.join(EXAMPLE, "pool.json"))
        yield "start"
        self.browser.click("#to-about")
        self.browser.click("#conflicts-1")
        self.browser.click("#about-form button.main")
        yield "about"
        self.js("showStart('')")
        self.begin()
        self.press("2", "x", "Escape", "e", "x", "Escape")
        yield "judge"
        self.press("g")
        self.js("for (const one of document.querySelectorAll('#queries details')) one.open = true;"
                "saving = false; showSaved()")
        yield "review"
        self.js("$('help').showModal()")
        yield "help"
        self.js("$('help').close()")
        self.browser.click("#delete")
        yield "ask"

    def test_views(self):
        seen = []
        for view in self.views():
            seen.append(view)
            with self.subTest(view=view):
                self.names(view)
                for scheme in ("light", "dark"):
                    self.browser.media(prefers_color_scheme=scheme)
                    number, low = self.js(LOW_CONTRAST)
                    self.assertEqual(low, [], (view, scheme))
                    self.assertGreater(number, 4)
                for width, text in ((1280, "200%"), (360, ""), (360, "200%")):
                    self.browser.size(width, 740)
                    self.js("document.documentElement.style.fontSize = arguments[0]", text)
                    wide = self.js("return document.documentElement.scrollWidth")
                    self.assertEqual(wide, width, (view, text))
                self.js("document.documentElement.style.fontSize = ''")
                self.browser.size(1280, 800)
                self.browser.media()
        self.assertEqual(tuple(seen), VIEWS)
        self.assertEqual([entry["message"] for entry in self.browser.log("browser")], [])

    def names(self, view):
        """Assert that everything to operate has a name and a role."""
        roles = {"button", "link", "textbox", "radio", "checkbox", "progressbar", "dialog",
                 "DisclosureTriangle", "group"}
        nodes = self.browser.accessible()
        self.assertEqual([node for node in nodes if node[0] in roles - {"group"} and not node[1]],
                         [], view)
        wanted = self.js("""
            const root = document.querySelector('dialog[open]') ?? document.body;
            return [...root.querySelectorAll('button, input, textarea, a, summary')]
              .filter(one => one.checkVisibility()).length""")
        self.assertEqual(sum(role in roles - {"progressbar", "dialog", "group"}
                             for role, name in nodes), wanted, (view, nodes))

    def test_focus_order(self):
        self.begin()
        self.press("2")
        stops = """
            return [...document.querySelectorAll('button, input, textarea, a, summary')]
              .filter(one => one.checkVisibility()).map(one => one.id || one.textContent)"""
        wanted = self.js(stops)
        self.assertEqual(self.js("return [...document.querySelectorAll('[tabindex]')]"
                                 ".filter(one => one.tabIndex > 0).length"), 0)
        found = []
        self.js("$('to-help').focus()")
        for number in range(len(wanted)):
            if number:
                self.press("Tab")
            found.append(self.js("""
                const one = document.activeElement, box = one.getBoundingClientRect();
                const top = document.elementFromPoint(box.x + box.width / 2,
                  box.y + box.height / 2);
                return [one.id || one.textContent, one.contains(top)]"""))
        self.assertEqual([name for name, seen in found], wanted)
        self.assertEqual([name for name, seen in found if not seen], [])

    def test_spoken_and_on_paper(self):
        self.begin()
        self.assertEqual(self.js("""return [...document.querySelectorAll('[aria-live]')]
            .filter(one => one.checkVisibility()).map(one => one.ariaLive)"""),
            ["polite", "polite"])
        self.press("2", "x", "Escape")
        self.browser.media("print", prefers_color_scheme="dark")
        self.assertEqual(self.js(LOW_CONTRAST)[1], [])
        self.assertEqual(self.js("""return ['tools', 'to-help', 'candidate-name', 'reason']
            .map(id => $(id).checkVisibility())"""), [False, False, True, True])
        self.assertEqual(self.js("return getComputedStyle($('panel')).position"), "static")


if __name__ == "__main__":
    unittest.main()
