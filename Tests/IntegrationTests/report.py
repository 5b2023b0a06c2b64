"""Opens a report in a real browser, from phones to desktops, light and dark, and on paper.

    report.py FOLDER [SHOTS [PAGES]]

Demands of every page: valid HTML, no overflow, an empty console, no request but for its own files, one h1
and no skipped heading, heads for tables, words for pictures, readable contrast, every control reached by the
keyboard. Then it looks for places, moves a map, opens a longer range, and does without the script. SHOTS
keeps screenshots; PAGES are looked at instead of all.
"""

import base64
import json
import pathlib
import shutil
import sys
import time

import html5lib
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

WIDTHS = [360, 768, 1440]

CHECKS = r"""
const problems = [];
const say = text => problems.push(text);
const width = document.documentElement.clientWidth;
for (const link of document.querySelectorAll('.map a')) {
  const box = link.querySelector('rect').getBoundingClientRect();
  if (box.height && Math.min(box.width, box.height) < 24) say(`a target of ${box.width} by ${box.height}`);
}
for (const part of document.querySelectorAll('.scroll'))
  if (part.scrollWidth > part.clientWidth + 1) say(`cut: ${part.getAttribute('aria-label')}`);
if (document.documentElement.scrollWidth > width) say(`page is ${document.documentElement.scrollWidth} wide`);
for (const element of document.body.querySelectorAll('*')) {
  if (element.closest('.scroll') || element.closest('svg') || element.closest('.skip')) continue;
  const box = element.getBoundingClientRect();
  if (box.width > 0 && box.right > width + 1) say(`${element.tagName} reaches ${box.right}`);
}
if (!document.documentElement.lang) say('no language');
if (document.querySelectorAll('main').length !== 1) say('not one main');
if (document.querySelectorAll('h1').length !== 1) say('not one h1');
let level = 0;
for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
  const next = Number(heading.tagName[1]);
  if (next > level + 1) say(`${heading.tagName} after h${level}: ${heading.textContent}`);
  level = next;
}
const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
if (new Set(ids).size !== ids.length) say('an id twice');
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.querySelectorAll('thead th')];
  if (!heads.length || heads.some(head => head.scope !== 'col')) say('a table without heads');
  for (const row of table.tBodies[0].rows) {
    if (row.cells.length !== heads.length) say(`a row of ${row.cells.length} cells below ${heads.length} heads`);
    if (row.cells[0].scope !== 'row') say('a row without a head');
  }
}
for (const image of document.querySelectorAll('svg')) {
  if (image.getAttribute('aria-hidden') !== 'true' && !(['img', 'group'].includes(image.getAttribute('role')) && image.getAttribute('aria-label')))
    say('a picture without words');
}
for (const link of document.querySelectorAll('a')) if (!link.textContent.trim()) say('a link without words');
for (const control of document.querySelectorAll('a[href], button, input, summary')) {
  if (control.tabIndex < 0) say(`the keyboard does not reach ${control.textContent}`);
  if (control.matches('input') && !control.labels.length) say('a field without a label');
}
const rgb = text => text.match(/[\d.]+/g).map(Number);
const light = colour => {
  const [r, g, b] = colour.map(c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = element => {
  const label = element.previousElementSibling;
  if (label?.tagName === 'rect') return rgb(getComputedStyle(label).fill).slice(0, 3);
  for (let at = element; at; at = at.parentElement) {
    const colour = rgb(getComputedStyle(at).backgroundColor);
    if (colour.length < 4 || colour[3] > 0.99) return colour.slice(0, 3);
  }
  return [255, 255, 255];
};
const seen = new Set();
for (const element of document.body.querySelectorAll('*')) {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const colour = rgb(element.closest('svg') ? style.fill : style.color).slice(0, 3);
  const [a, b] = [light(colour), light(behind(element))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const key = `${element.tagName}.${element.className.baseVal ?? element.className} ${ratio.toFixed(2)}`;
  if (ratio < 4.5 && !seen.has(key)) { seen.add(key); say(`contrast ${key}`); }
  if (parseFloat(style.fontSize) < 11) say(`letters of ${style.fontSize}`);
}
return problems;
"""


def browser():
    options = Options()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def wait(driver, what, script):
    for _ in range(50):
        found = driver.execute_script(script)
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what}: waited for in vain")


def tries(driver, folder):
    """What a person does; each line is something that did not work."""
    problems = []

    def demand(holds, words):
        if not holds:
            problems.append(words)

    def look(path):
        driver.get((folder / path).as_uri())

    listed = "return [...document.querySelectorAll('#found a')].map(link => link.getAttribute('href'))"
    for page, home in [("index.html", ""), ("u91/perth.html", "../")]:
        look(page)
        driver.find_element(By.ID, "find").send_keys("perth")
        found = wait(driver, "the search", listed)
        demand(found[0] == f"{home}region/perth.html", f"{page}: found {found[:3]}")
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    demand(driver.switch_to.active_element.tag_name == "a", "the arrow does not lead to what was found")
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    wait(
        driver, "the page that was found",
        "return location.pathname.endsWith('region/perth.html') && document.readyState === 'complete'")
    driver.find_element(By.ID, "find").send_keys("zzzz no such place")
    wait(driver, "nothing found", "return document.querySelector('#found li')?.textContent === 'No place has that name.'")

    number = max(int(path.stem) for path in (folder / "station").glob("*.html"))
    driver.find_element(By.ID, "find").clear()
    driver.find_element(By.ID, "find").send_keys(str(number))
    demand(wait(driver, "a number", listed)[0].endswith(f"station/{number}.html"), f"station {number} is not found first")

    look("u91/perth.html")
    driver.find_element(By.CSS_SELECTOR, "[data-place] button").click()
    look("index.html")
    first = wait(driver, "the place", "return document.querySelector('.cards > *')?.dataset.region")
    demand(first == "perth", f"my place is not first but {first}")
    mine = driver.execute_script("return document.querySelector('header.site nav a').getAttribute('href')")
    demand(mine == "u91/perth.html", f"my place is {mine}")
    driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["geolocation"]})
    driver.execute_cdp_cmd("Emulation.setGeolocationOverride", {"latitude": -31.95, "longitude": 115.86, "accuracy": 9})
    driver.find_element(By.ID, "near").click()
    near = wait(driver, "the nearest", listed)
    demand(1 < len(near) <= 10 and all(path.startswith("station/") for path in near), f"near me: {near}")
    look("u91/perth.html")
    told = driver.execute_script(
        "const chart = [...document.querySelectorAll('svg.chart')].find(e => e.getClientRects().length);"
        "const box = chart.getBoundingClientRect();"
        "chart.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 2, clientY: box.top + 50}));"
        "return chart.lastElementChild.textContent")
    demand(": 1" in told, f"the chart tells {told!r}")
    driver.execute_script("localStorage.clear()")

    shown = "return [...document.querySelectorAll('svg.chart')].filter(e => e.getClientRects().length).length"
    for is_off in [False, True]:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": is_off})
        look("u91/perth.html")
        words = " without the script" if is_off else ""
        longer = driver.find_elements(By.XPATH, "//summary[text()='Show the last year']")
        demand(len(longer) == 1, f"no year{words}")
        if longer:
            longer[0].click()
            demand(driver.execute_script(shown) == 2, f"the year stays hidden{words}")
        demand(
            driver.find_element(By.CSS_SELECTOR, "form.search").is_displayed() != is_off, f"the search{words}")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    return problems


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    shots = pathlib.Path(sys.argv[2]) if sys.argv[2:] and sys.argv[2] else None
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    pages = [folder / path for path in sys.argv[3:]] or sorted(folder.rglob("*.html"))
    if len(pages) < 3:
        sys.exit(f"{folder}: {len(pages)} pages")
    for page in pages:
        html5lib.HTMLParser(strict=True).parse(page.read_text(encoding="utf-8"))
    bad = 0
    looks = 0
    driver = browser()
    try:
        for page in pages:
            for width in WIDTHS:
                for scheme in ["light", "dark"]:
                    driver.execute_cdp_cmd(
                        "Emulation.setDeviceMetricsOverride",
                        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
                    )
                    driver.execute_cdp_cmd(
                        "Emulation.setEmulatedMedia",
                        {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]},
                    )
                    driver.get(page.as_uri())
                    looks += 1
                    problems = driver.execute_script(CHECKS)
                    problems += [entry["message"] for entry in driver.get_log("browser")]
                    for entry in driver.get_log("performance"):
                        message = json.loads(entry["message"])["message"]
                        if message["method"] == "Network.requestWillBeSent":
                            url = message["params"]["request"]["url"]
                            if not url.startswith((folder.as_uri() + "/", "data:")):
                                problems.append(f"asks for {url}")
                    for problem in problems:
                        bad += 1
                        print(f"{page.relative_to(folder)} at {width}, {scheme}: {problem}")
                    if shots:
                        name = f"{page.parent.name}-{page.stem}-{width}-{scheme}.png"
                        picture = driver.execute_cdp_cmd(
                            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True}
                        )
                        (shots / name).write_bytes(base64.b64decode(picture["data"]))
        for problem in tries(driver, folder):
            bad += 1
            print(problem)
        driver.get((folder / "index.html").as_uri())
        paper = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
        if len(base64.b64decode(paper["data"])) < 10_000:
            bad += 1
            print("nothing to print")
    finally:
        driver.quit()
    if bad:
        sys.exit(f"{bad} problems")
    print(f"{len(pages)} pages looked at {looks} times")


main()
