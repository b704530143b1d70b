"""A report as a page."""

import json
import sys
from html.parser import HTMLParser

import pytest

from codeenv.env.fake import fake_taskset
from codeenv.errors import UsageError
from codeenv_harness.report.markup import tag
from tests.harness.report.made import HOSTILE, found, played, report_of, spoken, told
from tests.harness.runs import record

pytest.importorskip("matplotlib")

from codeenv_harness.report.html import page

VOID = {"meta", "input", "br", "col", "hr"}
OUTSIDE = ("http:", "https:", "//", "url(http", "@import")


class Page(HTMLParser):
    """Every element with its attributes and text; refuses what is not closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes), [*self.open]))
        assert len(attributes) == len(dict(attributes))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes), [*self.open]))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        self.words.append((self.open[-1] if self.open else "", text))

    def all(self, name):
        return [attributes for found, attributes, _ in self.elements if found == name]


@pytest.fixture
def report(tmp_path):
    """Two runs, one of them hostile wherever a run can be."""
    bad = HOSTILE.replace("/", "")
    label = found("a", 0).monitor.findings[0].model_copy(update={"label": bad})
    seen = found("a", 0).monitor.model_copy(update={"findings": (label,)})
    rows = [
        (record(bad, None).model_copy(update={"error": HOSTILE}), None),
        (found("a", 0, monitor=seen), spoken(40, 0.2, steps=3)),
        (found("a", 1, 1, monitor=seen), spoken(80, 0.4)),
        (record("b", 1), spoken(20, 0.1)),
    ]
    hostile = told(tmp_path / "hostile", HOSTILE, rows, rollouts=2)
    recipes = {recipe.id: recipe for recipe in fake_taskset("a", "b").recipes}
    return report_of(hostile, played(tmp_path / "oracle", "oracle"), recipes=recipes)


def test_everything_that_is_opened_is_closed(report):
    assert {"h1", "svg", "table", "script"} <= {name for name, _, _ in Page(page(report)).elements}


def test_the_page_needs_nothing_else(report):
    found_page = Page(page(report))

    for name, attributes, _ in found_page.elements:
        assert name not in ("link", "img", "iframe", "object", "base")
        for key in ("src", "href", "xlink:href", "action", "style"):
            assert not any(word in (attributes.get(key) or "") for word in OUTSIDE)
        assert (attributes.get("href") or "#").startswith("#")
    assert "http://" not in page(report)
    assert "https://" not in page(report)
    (policy,) = [a["content"] for a in found_page.all("meta") if "http-equiv" in a]
    assert policy.startswith("default-src 'none'")


def test_hostile_text_is_shown_and_never_run(report):
    text = page(report)
    found_page = Page(text)

    assert len(found_page.all("script")) == 1
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert not any(c in text for c in ("\x1b", "\u202e"))
    assert not [a for _, a, _ in found_page.elements if any(key.startswith("on") for key in a)]


def test_every_table_has_a_caption_and_headings_with_a_scope(report):
    found_page = Page(page(report))
    tables = len(found_page.all("table"))

    assert tables >= 5
    assert len(found_page.all("caption")) == tables
    heads = found_page.all("th")
    assert all(head.get("scope") in ("col", "row") for head in heads)
    for name, attributes, above in found_page.elements:
        if name == "th" and "thead" in above:
            assert attributes["scope"] == "col"


def test_every_plot_says_what_is_seen(report):
    found_page = Page(page(report))
    plots = [a for a in found_page.all("div") if a.get("role") == "img"]

    assert len(plots) == len(found_page.all("svg")) == 7
    assert all(len(plot["aria-label"]) > 20 for plot in plots)


def test_no_two_elements_have_the_same_id(report):
    ids = [a["id"] for _, a, _ in Page(page(report)).elements if "id" in a]

    assert len(ids) == len(set(ids))


def test_labels_and_controls_belong_together(report):
    found_page = Page(page(report))
    ids = {a["id"] for name in ("input", "select") for a in found_page.all(name)}

    assert {label["for"] for label in found_page.all("label")} == ids


def test_colours_are_those_of_the_page(report):
    text = page(report)

    assert "currentColor" in text
    assert "var(--series-1)" in text
    assert "prefers-color-scheme: dark" in text
    assert "#010101" not in text


def test_the_same_report_gives_the_same_bytes(report):
    assert page(report).encode() == page(report).encode()


def test_a_run_of_which_nothing_is_known_has_a_page(tmp_path):
    text = page(report_of(told(tmp_path / "run", "x", [(record("a", None), None)])))

    assert "No run recorded its tokens." in text
    assert "No rollout is valid." in text
    Page(text)


def test_a_thousand_rollouts_are_a_page_of_less_than_two_megabytes(tmp_path):
    path = tmp_path / "run" / "outcomes.jsonl"
    told(tmp_path / "run", "x", [(record("t0", 1), None)])
    lines = [
        json.dumps(record(f"a-task-with-a-long-name-{n:04}", n % 2).model_dump(mode="json"))
        for n in range(1000)
    ]
    path.write_text("\n".join(lines) + "\n")

    assert len(page(report_of(tmp_path / "run"))) < 2_000_000


def test_many_runs_and_odd_labels_can_be_drawn(tmp_path):
    odd = found("a", 0).monitor.findings[0].model_copy(update={"label": "漢字" * 40})
    seen = found("a", 0).monitor.model_copy(update={"findings": (odd,)})
    rows = [(found("a", 0, monitor=seen), spoken(40, 0.0))]
    runs = [told(tmp_path / f"r{n}", f"agent{n}", rows) for n in range(40)]

    found_page = Page(page(report_of(*runs)))
    assert len(found_page.all("svg")) == 4
    assert any("漢字" in text for _, text in found_page.words)


def test_markup_escapes_whatever_it_is_given():
    assert tag("p", "<b>&", title='"<').text == '<p title="&quot;&lt;">&lt;b&gt;&amp;</p>'
    assert tag("input", hidden=True, value=None).text == "<input hidden>"
    with pytest.raises(ValueError, match="no name"):
        tag("p", **{"x><script>": "1"})


def test_without_matplotlib_the_hint_says_what_to_install(report, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    with pytest.raises(UsageError) as caught:
        page(report)
    assert caught.value.hint == "pip install 'codeenv-gym[report]'"
