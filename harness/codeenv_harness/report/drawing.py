"""Plots as SVG that lies in a page: no text of a run, no link, and the colours of the page.

Lines and letters take the page's own colours, so that they can be read in its dark theme, too.
"""

import io
import re
from collections.abc import Callable
from typing import Any

from codeenv.errors import UsageError

INK, GRID, BACK = "#010101", "#020202", "#030303"
"""Stand for the colours of letters, of lines behind the data, and of the page."""
SERIES = tuple(f"#04{n:02x}04" for n in range(1, 9))
"""Stand for the colours of series, ``--series-1`` to ``--series-8`` in the page."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Series are told apart by shape as well as by colour."""
_ROLES = {INK: "currentColor", GRID: "var(--grid)", BACK: "var(--back)"} | {
    colour: f"var(--series-{place})" for place, colour in enumerate(SERIES, start=1)
}
_HINT = "pip install 'codeenv-gym[report]'"
_STYLE = {
    "svg.fonttype": "none",
    "svg.id": None,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "path.simplify": False,
}
Draw = Callable[[Any], None]
"""Draws on the axes that it is given."""


def check_installed() -> None:
    """Check that plots can be drawn.

    Raises:
        UsageError: If they cannot.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UsageError("--html needs matplotlib", hint=_HINT) from error


def drawn(name: str, draw: Draw, *, height: float = 3.6) -> str:
    """Return a plot as an SVG element.

    Args:
        name: Of letters; no two plots of a page may have the same.
        draw: Draws it.
        height: Of the plot, in inches; it is 6.4 wide, and as wide as the page has room.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    check_installed()
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever this machine's own settings are
        matplotlib.rcParams.update({**_STYLE, "svg.hashsalt": name})
        figure = Figure(figsize=(6.4, height))
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return _for_page(buffer.getvalue(), name)


def _for_page(svg: str, name: str) -> str:
    """Take off what a file needs and a page does not, and name colours by their role."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(
        r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>|<!--.*?-->", "", svg, flags=re.S
    )
    svg = re.sub(r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>", r'<svg \1 aria-hidden="true">', svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    used = set(re.findall(r"#([\w.-]+)[\")]", svg))
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r'xlink:href="#', f'href="#{name}-', svg).replace("url(#", f"url(#{name}-")
    svg = re.sub(r"#0[1-4][0-9a-f]{4}", lambda m: _ROLES.get(m[0], m[0]), svg)
    return re.sub(r"\s*\n\s*", "\n", svg).strip()
