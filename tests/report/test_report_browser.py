"""The page in a real browser: Debian's packages chromium and chromium-driver, driven by selenium."""

import base64
import csv
import json
import re
import shlex
import struct
from pathlib import Path

import numpy as np
import pytest
from report_cases import HOSTILE, make_model, make_rows, typical

from mbauc.cli.main import main
from mbauc.metrics.operating_point import InUse, choose_threshold
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import threshold_table
from mbauc.model import LibsvmLayout, RankerModel, load_model, save_model
from mbauc.report import report_html
from mbauc.report.text import count, percent, score_text

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM.exists() and DRIVER.exists()), reason="needs the packages chromium and chromium-driver"
    ),
]
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
)
PHONE, DESKTOP = 390, 1200
LIMITS = ("0", "0.0001", "0.001", "0.0123", "1%", "0.05", "0.1", "0.5", "0.999", "1")
ALARMS = ("0", "1", "7", "99", "100.5", "400", "12345", "1e9")
IN_USE = (("", ""), ("", "0.5%"), ("100000", "0.001"), ("5e6", ""), ("1000", "0"), ("", "1"))
RATES = ("0.5", "7", "50", "333", "10000")
OPTIONS = (
    ("limit", "1%", "--false-alarm 0.01"),
    ("alarms", "200", "--top 200"),
    ("rate", "50", "--alarms-per-10000 50"),
    ("cost", "10", "--cost 10"),
)
RATIOS = ("0", "0.02", "0.5", "1", "3.7", "10", "50", "1000", "1e5", "1e9")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages of a usual case and of hard ones."""
    place = tmp_path_factory.mktemp("pages")
    model, y, s = typical()
    few = np.zeros(y.size)
    few[[5, 80, 200]] = 1
    small, scores = make_rows(60, 0.3)
    hostile = make_model(HOSTILE, trained_on={HOSTILE[1]: HOSTILE}, classes=(HOSTILE[0], HOSTILE[1]), slope=1.8)
    words = {"title": HOSTILE[0], "data_name": HOSTILE[1], "warnings": HOSTILE, "generated": HOSTILE[2]}
    words["model_name"] = HOSTILE[1]
    day, odd = np.arange(y.size) % 300, np.array(HOSTILE, dtype=object)[np.arange(y.size) % len(HOSTILE)]
    pages = {
        "typical": report_html(y, s, model=model, title="Churn", data_name="march.csv", generated="2026-03-01"),
        "weighted": report_html(
            y, s, sample_weight=np.arange(y.size) % 4 * 0.3, model=make_model(slope=1.8), groups=day
        ),
        "few": report_html(few, s + few, model=make_model(slope=1.8)),
        "small": report_html(small, scores, model=make_model()),
        "tied": report_html(small, np.zeros(60), model=make_model(coef=np.zeros(6))),
        "tiny scores": report_html(small, scores * 1e-7, model=make_model(slope=1e7)),
        "huge scores": report_html(small, scores * 1e7, model=make_model(slope=1e-7)),
        "any": report_html(y, s, positive=1, segments={"a": day, HOSTILE[0]: odd}, time=day),
        "one class": report_html(np.zeros(40), np.arange(40.0), model=make_model()),
        "hostile": report_html(y, np.round(s, 1), model=hostile, groups=odd, group_name=HOSTILE[0], **words),
    }
    for name, html in pages.items():
        (place / f"{name}.html").write_text(html, encoding="utf-8")
    return place


def load(browser, folder, name, width=DESKTOP, scheme="light"):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    browser.get((folder / f"{name}.html").as_uri())
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def element(browser, name):
    return browser.find_element("id", name)


def set_number(browser, name, text):
    """As if it had been typed; the keyboard has a test of its own."""
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    browser.execute_script(script, element(browser, name), text)


SHOWN = """
const all = [...document.querySelectorAll("data")];
return Object.fromEntries(all.map(place => [place.id, [place.value, place.textContent]]));
"""


def check_position(browser, at):
    """All numbers that are shown, their exact values and their texts, are those of Python."""
    wanted = {
        "threshold": (at.cut, score_text),
        "found": (at.found, count),
        "missed": (at.missed, count),
        "false-alarms": (at.false_alarms, count),
        "quiet": (at.quiet, count),
        "promise": (at.promise, percent),
        "cost": (at.cost, count),
        "alarms": (at.alarms, count),
        "alarms-precision": (at.alarms_precision, percent),
    }
    for name in ("detection", "false_alarm", "precision"):
        for end, value in zip(("", "-low", "-high"), getattr(at, name), strict=True):
            wanted[name + end] = (value, percent)
    shown = browser.execute_script(SHOWN)
    assert shown.keys() == {f"at-{name}" for name in wanted}
    for name, (value, text) in wanted.items():
        exact, words = shown[f"at-{name}"]
        if np.isfinite(value):
            assert float(exact) == value, name
            assert name == "threshold" or words == text(value), name
        else:
            assert exact == "", name
            assert words == (text(value) if name == "threshold" else "–"), name
    saying = (
        f"Finds {count(at.found)} of {count(at.found + at.missed)} positives, with {count(at.false_alarms)}"
    )
    assert element(browser, "saying").text.startswith(saying)


@pytest.mark.parametrize("name", ["typical", "weighted", "tied"])
def test_the_explorer_shows_the_numbers_of_python(browser, folder, name):
    model, y, s = typical()
    weight, own = None, None
    if name == "weighted":
        weight = np.arange(y.size) % 4 * 0.3
    elif name == "tied":
        y, s = make_rows(60, 0.3)[0], np.zeros(60)
    else:
        own = model.threshold.value
    table = threshold_table(RankedScores(y == 1, s, weight), own)
    load(browser, folder, name)
    check_position(browser, choose_threshold(table) if own else choose_threshold(table, false_alarm=0.05))
    element(browser, "mode-limit").click()
    for text in LIMITS:
        set_number(browser, "limit-number", text)
        limit = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        check_position(browser, choose_threshold(table, false_alarm=limit))
    element(browser, "mode-cost").click()
    for text in RATIOS:
        set_number(browser, "cost-number", text)
        check_position(browser, choose_threshold(table, cost_ratio=float(text)))
    element(browser, "mode-alarms").click()
    for text in ALARMS:
        set_number(browser, "alarms-number", text)
        check_position(browser, choose_threshold(table, alarms=float(text)))
    element(browser, "mode-rate").click()
    for text in RATES:
        set_number(browser, "rate-number", text)
        check_position(browser, choose_threshold(table, alarms=float(text) * table.rows / 1e4))
    element(browser, "mode-hand").click()
    for score in (*np.quantile(s, [0.1, 0.9, 0.999]), -1e9, 1e9):
        set_number(browser, "hand-number", repr(float(score)))
        check_position(browser, choose_threshold(table, at=float(score)))
    element(browser, "mode-alarms").click()
    element(browser, "rows-number").find_element("xpath", "..").find_element("css selector", "summary").click()
    for rows, share in IN_USE:
        set_number(browser, "rows-number", rows)
        set_number(browser, "share-number", share)
        part = float(share.removesuffix("%")) / (100 if share.endswith("%") else 1) if share else None
        in_use = InUse.of(table, float(rows) if rows else None, part)
        check_position(browser, choose_threshold(table, alarms=float(ALARMS[-1]), in_use=in_use))
        assert element(browser, "at-alarms").is_displayed() == bool(rows or share)
    element(browser, "mode-cost").click()
    check_position(browser, choose_threshold(table, cost_ratio=float(RATIOS[-1]), in_use=in_use))
    set_number(browser, "share-number", "2")  # no share: it is marked, and what was shown stays
    assert element(browser, "share-number").get_attribute("aria-invalid") == "true"
    check_position(browser, choose_threshold(table, cost_ratio=float(RATIOS[-1]), in_use=in_use))
    set_number(browser, "share-number", "")
    assert element(browser, "share-number").get_attribute("aria-invalid") is None
    if own:
        element(browser, "mode-own").click()
        check_position(browser, choose_threshold(table))


def test_the_command_that_is_copied_sets_the_threshold(browser, tmp_path, monkeypatch):
    _, y, s = typical()
    model = RankerModel(LibsvmLayout(1, zero_based=False), (0, 1), np.array([1.0]), 0.0, 1.0, 0.0, 0.1)
    save_model(model, tmp_path / "my model.mbauc")
    page = report_html(y, s, model=model, model_name="my model.mbauc")
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    permissions = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", permissions)
    load(browser, tmp_path, "page")
    monkeypatch.chdir(tmp_path)
    button = browser.find_element("css selector", "button[data-copy=command]")
    for limit in ("0.001", "0.05"):
        at = choose_threshold(threshold_table(RankedScores(y == 1, s, None)), false_alarm=float(limit))
        element(browser, "mode-hand").click()
        set_number(browser, "hand-number", str(at.cut))
        check_position(browser, at)
        button.click()
        copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        assert copied == element(browser, "command").text.replace("\n", " ")
        assert len(copied) < 75
        assert main([*shlex.split(copied)[1:], "--force"]) == 0
        cut = load_model(tmp_path / "my model-alarm.mbauc").threshold.value
        assert ((s > cut) == (s > at.threshold)).all()
    assert button.text == "Copied"
    browser.find_element("css selector", "button[data-copy=at-threshold]").click()
    assert float(browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")) == at.cut
    for mode, text, option in OPTIONS:
        element(browser, f"mode-{mode}").click()
        set_number(browser, f"{mode}-number", text)
        words = f"mbauc threshold 'my model.mbauc' DATA {option} -o 'my model-alarm.mbauc'"
        assert element(browser, "command").text.split() == words.split()
    element(browser, "mode-hand").click()
    # without the right to write, the command is selected
    browser.execute_script("navigator.clipboard.writeText = () => Promise.reject(new Error())")
    button.click()
    assert browser.execute_script("return getSelection().toString()").split() == copied.split()
    element(browser, "mode-limit").click()
    set_number(browser, "limit-number", "1")  # below all scores: nothing to set
    assert not element(browser, "command").is_displayed()


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_slider_stays_in_sight_with_the_plots_that_it_moves(browser, folder, width):
    load(browser, folder, "typical", width)
    element(browser, "mode-limit").click()
    places = """
    document.getElementById(arguments[0]).scrollIntoView();
    const box = (element) => element.getBoundingClientRect();
    const bar = box(document.querySelector(".bar"));
    return [bar.top, bar.bottom, box(document.getElementById(arguments[0])).bottom, innerHeight];
    """
    for name in ("roc", "precision"):
        top, bottom, heading, window = browser.execute_script(places, name)
        assert top == 0
        assert bottom < 0.2 * window
        assert bottom < heading < window
        assert element(browser, "saying").is_displayed()
    assert browser.execute_script(places, "weights")[1] <= 0  # below, there is nothing to move


def test_sliders_and_radios_follow_the_keyboard(browser, folder):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    model, y, s = typical()
    table = threshold_table(RankedScores(y == 1, s, None), model.threshold.value)

    def press(*keys):
        chain = ActionChains(browser)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def focused():
        return browser.switch_to.active_element.get_attribute("id")

    load(browser, folder, "typical")
    while focused() != "mode-own":
        press(Keys.TAB)
    press(Keys.ARROW_RIGHT)
    assert focused() == "mode-limit"
    press(Keys.TAB)
    assert focused() == "limit-slider"
    assert browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    seen = []
    for key in (Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.PAGE_DOWN, Keys.END, Keys.HOME):
        press(key)
        limit = float(element(browser, "limit-number").get_attribute("value"))
        check_position(browser, choose_threshold(table, false_alarm=limit))
        spoken = element(browser, "limit-slider").get_attribute("aria-valuetext")
        assert spoken == f"{percent(limit)} of the negatives"
        seen.append(limit)
    assert seen[1] < seen[0] == seen[2] < 0.05
    assert seen[3] < seen[2]
    assert seen[4:] == [1.0, 0.0]
    press(Keys.TAB)
    assert focused() == "limit-number"
    press(*[Keys.BACKSPACE] * 6, "0.02")
    check_position(browser, choose_threshold(table, false_alarm=0.02))
    assert element(browser, "limit-slider").get_attribute("value") == str(round(50 * np.log10(0.02)))
    press("x")  # no number: it is marked, and what was shown stays
    assert element(browser, "limit-number").get_attribute("aria-invalid") == "true"
    check_position(browser, choose_threshold(table, false_alarm=0.02))
    press(Keys.BACKSPACE)
    assert element(browser, "limit-number").get_attribute("aria-invalid") is None


def test_halves_are_rounded_as_in_python(browser):
    for value in (0.1225, 0.3125, 0.01125):
        script = "return (100 * arguments[0]).toFixed(arguments[1]) + '%'"
        assert browser.execute_script(script, value, 1 if value > 0.1 else 2) == percent(value)


def test_marks_move_with_the_threshold(browser, folder):
    load(browser, folder, "typical")
    element(browser, "mode-limit").click()
    places = []
    for text in ("0", "0.3"):
        set_number(browser, "limit-number", text)
        marks = browser.find_elements("css selector", "[data-mark]")
        rings = browser.find_elements("css selector", "[data-mark] circle")
        places.append([mark.get_attribute("transform") for mark in marks])
        places[-1] += [ring.get_attribute("cy") for ring in rings]
    assert len(places[0]) == 7
    assert all(before != after for before, after in zip(*places, strict=True))


def requested(browser):
    """What the browser asked for since it was asked last."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]


def check_nothing_ran(browser, page):
    """Nothing from the data runs, also where no policy bars it, and nothing is loaded."""
    html = page.read_text(encoding="utf-8")
    policy = re.search("<meta http-equiv.*?>", html)[0]
    open_page = page.with_name("open.html")
    open_page.write_text(html.replace(policy, ""), encoding="utf-8")
    for path in (open_page, page):
        requested(browser)
        load(browser, path.parent, path.stem)
        assert len(browser.find_elements("css selector", "meta[http-equiv]")) == int(path == page)
        browser.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true })")
        for mode in ("limit", "alarms", "cost"):
            element(browser, f"mode-{mode}").click()
        assert browser.execute_script("return [window.hacked, document.body.offsetHeight > 0]") == [None, True]
        kinds = (
            "return ['script', 'style', 'iframe', 'img'].map(name => document.querySelectorAll(name).length)"
        )
        assert browser.execute_script(kinds) == [2, 1, 0, 0]
        assert requested(browser) == [path.as_uri()]
        assert [entry["message"] for entry in browser.get_log("browser")] == []
    open_page.unlink()


def test_nothing_from_files_and_their_names_runs(browser, tmp_path, monkeypatch):
    """Names of columns, labels, values and files by way of the commands."""
    pytest.importorskip("pyarrow", reason="tables are read with pyarrow")
    monkeypatch.chdir(tmp_path)
    rows, model, words = "<img src=x onerror=hacked=1>.csv", "'\"><svg onload=hacked=1>.mbauc", HOSTILE
    rng = np.random.default_rng(0)
    with open(rows, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([words[0], words[1], words[2], words[10]])
        for k in range(400):
            yes = k % 5 == 0
            number = f"{rng.standard_normal() + yes:.3f}"
            writer.writerow([words[11 if yes else 12], words[k % 3], words[10 + k % 4], number])
    fit = ["--label", words[0], "--positive", words[11], "--encode", "onehot", "--cv", "2", "-o", model]
    assert main(["fit", rows, *fit, "--hold-out", "0"]) == 0
    assert main(["evaluate", model, rows, "--report", "page.html", "--title", words[12]]) == 0
    check_nothing_ran(browser, tmp_path / "page.html")
    shown = element(browser, "weights").find_element("xpath", "..").text
    assert words[10] in shown
    assert f"{words[2]}={words[11]}" in shown
    assert shlex.split(element(browser, "command").text)[2] == model


def test_nothing_from_the_data_runs_and_nothing_is_loaded(browser, folder):
    check_nothing_ran(browser, folder / "hostile.html")
    assert browser.title == HOSTILE[0]
    # the policy holds even if a script gets in
    browser.execute_script(
        "const it = document.createElement('script'); it.text = 'window.hacked = 1'; document.body.append(it)"
    )
    assert browser.execute_script("return window.hacked") is None
    assert "Content Security Policy" in browser.get_log("browser")[0]["message"]


COLLIDING = """
const bad = [];
for (const svg of document.querySelectorAll("svg[role=img]")) {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter(text => text.textContent);
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  for (const [text, a] of boxes) {
    const inside = a.left >= frame.left - 1 && a.right <= frame.right + 1 && a.bottom <= frame.bottom + 1;
    if (!inside) bad.push(["outside", text]);
    for (const [other, b] of boxes) {
      const apart = a.right <= b.left || b.right <= a.left || a.bottom - 3 <= b.top || b.bottom - 3 <= a.top;
      if (a !== b && !apart) bad.push([text, other]);
    }
  }
}
return bad;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_pages_fit_the_screen_and_labels_do_not_collide(browser, folder, tmp_path, width, scheme):
    for page in sorted(folder.glob("*.html")):
        load(browser, folder, page.stem, width, scheme)
        wide, high = browser.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        assert wide <= width, page.stem
        assert browser.execute_script(COLLIDING) == [], page.stem
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 28)"}[scheme]
        if page.stem == "typical":
            clip = {"x": 0, "y": 0, "width": width, "height": high, "scale": 1}
            whole = {"captureBeyondViewport": True, "clip": clip}
            shot = browser.execute_cdp_cmd("Page.captureScreenshot", whole)
            picture = tmp_path / f"{scheme}-{width}.png"
            picture.write_bytes(base64.b64decode(shot["data"]))
            assert struct.unpack(">II", picture.read_bytes()[16:24]) == (width, high)


def test_the_page_prints_on_white(browser, folder):
    load(browser, folder, "typical", scheme="dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script("return getComputedStyle(document.body).color") == "rgb(26, 31, 36)"
    assert not element(browser, "mode-own").is_displayed()
    assert element(browser, "saying").is_displayed()
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert pdf.startswith(b"%PDF")
