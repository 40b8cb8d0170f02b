"""A drawn chart made fit for the page: only shapes and text stay, and no style that the page's policy would block."""

from __future__ import annotations

from xml.etree import ElementTree as ET  # the text comes from the chart library, not from outside

from markupsafe import Markup, escape

_NAMESPACE = "{http://www.w3.org/2000/svg}"
_TAGS = frozenset({"svg", "g", "path", "rect", "line", "circle", "text", "tspan"})
_ATTRIBUTES = frozenset(
    [
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "dx",
        "dy",
        "cx",
        "cy",
        "r",
        "d",
        "width",
        "height",
        "transform",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-dasharray",
        "stroke-opacity",
        "stroke-linecap",
        "opacity",
        "text-anchor",
        "font-size",
        "font-weight",
        "font-family",
        "viewBox",
    ]
)


def tidy(source: str, label: str) -> Markup:
    """The SVG ``source`` as an element to put into a page; ``label`` says what it shows to those who cannot see it."""
    root = ET.fromstring(source)  # noqa: S314 - see above
    _clean(root)
    root.attrib.pop("height", None)
    opening = f'<svg role="img" aria-label="{escape(label)}"'
    return Markup(opening + _text(root).removeprefix("<svg"))  # noqa: S704 - tags and attributes are from the lists


def _clean(element: ET.Element) -> None:
    for child in list(element):
        if child.tag.removeprefix(_NAMESPACE) in _TAGS:
            _clean(child)
        else:
            element.remove(child)
    element.tag = element.tag.removeprefix(_NAMESPACE)
    for name in set(element.attrib) - _ATTRIBUTES:
        del element.attrib[name]
    if element.tag == "text" and len(element) > 1:  # several lines: their middle at the place of one
        element[0].set("dy", f"{-sum(float(line.get('dy', 0)) for line in element) / 2:g}")
    element.tail = None
    if element.tag not in ("text", "tspan"):
        element.text = None


def _text(root: ET.Element) -> str:
    return ET.tostring(root, encoding="unicode")
