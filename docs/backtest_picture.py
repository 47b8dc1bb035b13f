"""Draws docs/backtest.png: the page of a backtest of examples/payments, as Chromium shows it.

python docs/backtest_picture.py [CHROMIUM]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import tocsin

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "backtest.png"
WIDTH, HEIGHT = 1000, 1180
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def main(chromium: str) -> None:
    """Write the page into a folder of its own, and take a picture of its upper part."""
    payments = ROOT / "examples" / "payments"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        tocsin.backtest(payments / "rules.sql", payments / "history.jsonl").html(page)
        size = f"--window-size={WIDTH},{HEIGHT}"
        subprocess.run(
            [chromium, *FLAGS, f"--user-data-dir={folder}", size, f"--screenshot={PICTURE}", page.as_uri()],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["chromium"]))
