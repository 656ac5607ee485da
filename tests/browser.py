"""Pages in a real browser, in a frame as wide as a phone or a screen: what its console says, what sticks out."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)

_PHONE = 390
_HARNESS = """<!DOCTYPE html><meta charset="utf-8"><title>harness</title>{frames}
<pre id="facts"></pre><script>
addEventListener("load", () => {{
  const facts = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument, root = page.documentElement, style = frame.contentWindow.getComputedStyle(root);
    const scrolled = element => element.closest(".scroll");
    const out = [...page.querySelectorAll("body *")].filter(e => !scrolled(e) && e.getBoundingClientRect().right > {width} + 0.5);
    return {{
      title: page.title, width: root.scrollWidth, background: style.backgroundColor, height: root.scrollHeight,
      out: out.slice(0, 5).map(e => e.tagName + "." + (e.getAttribute("class") || "") + " " + e.textContent.slice(0, 40)),
      cut: [...page.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent.slice(0, 80)),
      plots: page.querySelectorAll("svg.plot").length, wide: page.querySelectorAll(".scroll").length,
    }};
  }});
  document.getElementById("facts").textContent = JSON.stringify(facts);
}});
</script>"""


def look(pages: list[str], folder: Path, *, dark: bool, width: int = _PHONE) -> tuple[list[dict[str, object]], list[str]]:
    """Return facts about each page in a frame so many pixels wide, and everything the console said."""
    frames = "".join(
        f'<iframe width="{width}" height="900" style="border:0" srcdoc="{html.escape(page, quote=True)}"></iframe>'
        for page in pages
    )
    harness = folder / "harness.html"
    harness.write_text(_HARNESS.format(frames=frames, width=width), "utf-8")
    assert CHROMIUM is not None
    done = subprocess.run(
        [
            CHROMIUM,
            *(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--enable-logging=stderr",
                "--v=0",
                "--window-size=1000,1000",
            ),
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", harness.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    found = re.search(r'<pre id="facts">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found[1])), said
