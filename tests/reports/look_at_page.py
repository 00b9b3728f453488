"""Opens a page in headless Chromium and prints, as JSON, what is wrong with it and what it shows.

    look_at_page.py CHROMIUM PAGE WIDTH light|dark

Every chart is drawn, as if scrolled to. "problems" are console messages, errors, requests and dialogs.
"""

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Runs before the page's own scripts, and again when they are done.
WATCH = """<script>
window.problems = [];
addEventListener("error", (e) => problems.push(String(e.message)));
addEventListener("securitypolicyviolation", (e) => problems.push("blocked " + e.blockedURI));
for (const kind of ["error", "warn"]) console[kind] = (...what) => problems.push(what.join(" "));
for (const kind of ["alert", "prompt", "confirm"]) window[kind] = (what) => problems.push(kind + " " + what);
</script>"""
LOOK = """<script>
// Rows of the table of all workloads, where their links lead, and its texts for each number that can be chosen.
function glanceFacts() {
  const card = document.querySelector(".glance");
  if (!card) return null;
  const choice = card.querySelector("select"), texts = {};
  const cells = () => [...card.querySelectorAll("tbody td")].map((e) => e.firstChild.textContent);
  const facts = {shown: choice.selectedOptions[0].textContent, texts,
    targets: [...card.querySelectorAll("tbody th a")].filter((e) => document.querySelector(e.getAttribute("href"))).length};
  for (const option of choice.options) {
    choice.value = option.value;
    choice.dispatchEvent(new Event("change"));
    texts[option.textContent] = cells();
  }
  return facts;
}
for (const canvas of drawings.keys()) draw(canvas);
for (const details of document.querySelectorAll("details")) {
  if (details.querySelector("summary").textContent === "Numbers") details.open = true;
}
setTimeout(() => {
  const all = (what) => [...document.querySelectorAll(what)];
  const wide = all("h1,h2,p,section,figure,.stat").filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
  const blank = [...drawings.keys()].filter((c) => !c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0));
  const unnamed = all("canvas,select,input[type=search],.scroll").filter((e) => !e.getAttribute("aria-label"));
  const facts = {problems, ready: document.documentElement.dataset.ready || "", inner_width: innerWidth,
    scroll_width: document.documentElement.scrollWidth, wide: wide.length, charts: drawings.size, blank: blank.length,
    unnamed: unnamed.length, charts_of_names: [...drawings.values()].filter(({chart}) => chart.config.type === "line" &&
      Object.values(chart.scales).some((scale) => scale.type === "category")).length, scripts: all("script").length, pictures: all("img,iframe,svg,object").length,
    dark: getComputedStyle(document.body).backgroundColor === "rgb(15, 20, 26)",
    tables: all("table").length, captions: all("table > caption").length, heads: all("th").length,
    scoped: all("th[scope]").length, policies: all(".key tbody th").map((e) => e.textContent),
    glance: glanceFacts(), event_rows: all(".events tbody tr").length, verdict: document.getElementById("verdict").textContent};
  parent.postMessage(JSON.stringify(facts), "*");
}, 300);
</script>"""


# No window of Chromium is as narrow as a phone, but a frame is; the page sends its facts to the page around it.
FRAME = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><iframe src="page.html" style="border:0;width:{}px;
height:1000px"></iframe><script>addEventListener("message", (e) => document.body.append(
Object.assign(document.createElement("pre"), {{id: "facts", textContent: e.data}})));</script>"""


def main(program, page_name, width, scheme):
    with tempfile.TemporaryDirectory() as folder:
        text = Path(page_name).read_text(encoding="utf-8").replace("<body>", "<body>" + WATCH, 1)
        end = text.rindex("</body>")
        Path(folder, "page.html").write_text(text[:end] + LOOK + text[end:], encoding="utf-8")
        frame = Path(folder, "frame.html")
        frame.write_text(FRAME.format(width), encoding="utf-8")
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", f"--user-data-dir={folder}/profile", "--hide-scrollbars",
                   f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}", "--enable-logging=stderr",
                   f"--window-size={max(int(width), 500) + 50},1100", "--virtual-time-budget=5000", "--dump-dom",
                   frame.as_uri()]
        seen = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="facts">(.*?)</pre>', seen.stdout, re.S)
    facts = json.loads(html.unescape(found[1])) if found else {"problems": ["no page: " + seen.stderr[-2000:]]}
    facts["problems"] += [line for line in seen.stderr.splitlines() if "CONSOLE" in line]
    print(json.dumps(facts))


main(*sys.argv[1:])
