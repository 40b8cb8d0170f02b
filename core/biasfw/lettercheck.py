"""Checks that the letters of a choice benchmark are read: alone, and in the answers that its template asks for."""

from __future__ import annotations

from biasfw.contracts import Parser
from biasfw.document import Document, child
from biasfw.errors import DataError
from biasfw.findings import Report
from biasfw.form import Form
from biasfw.packcheck import said
from biasfw.phrases import many, shorten
from biasfw.records import Outcome, Reading
from biasfw.templates import compiled


def check_letters(report: Report, document: Document, form: Form, parser: Parser) -> None:
    """Every letter is read as itself in every language: alone, lowered, and as ``answer_template`` writes it."""
    count = wrong = 0
    for language, letters in document.value["letters"].items():
        for place, letter in enumerate(letters):
            meant = Reading(Outcome.ANSWERED, form.labels[place].key)
            pointer = child(child("/letters", language), place)
            for text in dict.fromkeys((letter, letter.lower(), _written(report, document, language, letter))):
                count += 1
                read = parser.parse(text, language=language, condition=form.conditions[0], finish_reason="stop")
                reading = read.slots["choice"]
                if reading != meant:
                    wrong += 1
                    message = f"the answer {shorten(text)} in {language} is read as {said(reading)}"
                    report.add("error", document, pointer, f"{message}, expected {said(meant)}; choose another letter")
    if not wrong:
        report.facts.append(f"{many(count, 'answer')}, with every letter in every language, read as meant")


def _written(report: Report, document: Document, language: str, letter: str) -> str:
    template = document.value.get("answer_template", {}).get(language, "{{ letter }}")
    try:
        return compiled(template, f"answer_template/{language}").render({"letter": letter, "text": ""})
    except DataError as failure:
        report.add("error", document, child("/answer_template", language), str(failure))
        return letter
