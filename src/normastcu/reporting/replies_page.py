"""The replies of the judges as one page to browse, beside what people said of the same pairs.

The page is a table, complete without a script; the script adds filters, order and pages. Every
text of a reply, a document or a query is escaped by the template, the page may run its own script
only (by its hash) and load nothing from anywhere.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pandas as pd
from markupsafe import Markup

from normastcu.collection.settings import GradeScale
from normastcu.reporting.page_parts import ENVIRONMENT, clean, content_hash, template_part

Language = Literal["en", "pt"]

STRONG_DIFFERENCE = 2
"""From which distance to the people's mean a grade is marked, and found by a filter."""
LONG_REASON = 1500
"""Characters from which a reason scrolls in its cell."""
PAGE_SIZES = (25, 50, 200, 1000)
FIRST_PAGE_SIZE = 50

COLUMNS: Mapping[str, Literal["text", "number"]] = {
    "query": "text",
    "document": "text",
    "judge": "text",
    "grade": "number",
    "outcome": "text",
    "reason": "text",
    "people": "number",
    "difference": "number",
}
"""Columns of the page in their order, and how each is sorted."""


LABELS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "heading": "Replies of the judges",
        "about": "Each row is what one judge answered about one document under one query, with "
        "the reason it gave. Beside it stand the grades of people: their mean, the single grades, "
        "and how far above (+) or below (−) the mean the judge is.",
        "query": "Query",
        "document": "Document",
        "judge": "Judge",
        "grade": "Grade",
        "outcome": "Outcome",
        "reason": "Reason",
        "people": "People: mean, grades",
        "difference": "Difference",
        "no_grade": "no grade",
        "samples": "median of {n} samples",
        "ok": "graded",
        "unparseable": "unreadable",
        "out_of_range": "not on the scale",
        "truncated": "cut off",
        "refused": "refused",
        "too_long": "document too long",
        "error": "service failed",
        "not asked": "not asked yet",
        "controls": "Filter and order",
        "any": "any",
        "all": "all",
        "search": "Text",
        "search_hint": "in query, document or reason",
        "strong": "Differs from people by {n} or more",
        "sort": "Order by",
        "table_order": "table order",
        "direction": "Direction",
        "ascending": "ascending",
        "descending": "descending",
        "page_size": "Rows a page",
        "reset": "Reset",
        "pages": "Pages",
        "previous": "Previous",
        "next": "Next",
        "total": "Rows: {all}.",
        "shown": "Rows {first} to {last} of {matching}.",
        "shown_filtered": "Rows {first} to {last} of {matching} that match, of {all} in all.",
        "none_shown": "No row matches, of {all} in all.",
    },
    "pt": {
        "heading": "Respostas dos juízes",
        "about": "Cada linha é o que um juiz respondeu sobre um documento para uma consulta, com "
        "a justificativa que deu. Ao lado estão as notas de pessoas: a média, cada nota, e "
        "quanto o juiz fica acima (+) ou abaixo (−) da média.",
        "query": "Consulta",
        "document": "Documento",
        "judge": "Juiz",
        "grade": "Nota",
        "outcome": "Resultado",
        "reason": "Justificativa",
        "people": "Pessoas: média, notas",
        "difference": "Diferença",
        "no_grade": "sem nota",
        "samples": "mediana de {n} amostras",
        "ok": "com nota",
        "unparseable": "ilegível",
        "out_of_range": "fora da escala",
        "truncated": "interrompida",
        "refused": "recusada",
        "too_long": "documento longo demais",
        "error": "falha do serviço",
        "not asked": "ainda não perguntado",
        "controls": "Filtros e ordem",
        "any": "qualquer",
        "all": "todas",
        "search": "Texto",
        "search_hint": "em consulta, documento ou justificativa",
        "strong": "Difere das pessoas em {n} ou mais",
        "sort": "Ordenar por",
        "table_order": "ordem da tabela",
        "direction": "Sentido",
        "ascending": "crescente",
        "descending": "decrescente",
        "page_size": "Linhas por página",
        "reset": "Limpar",
        "pages": "Páginas",
        "previous": "Anterior",
        "next": "Próxima",
        "total": "Linhas: {all}.",
        "shown": "Linhas {first} a {last} de {matching}.",
        "shown_filtered": "Linhas {first} a {last} de {matching} encontradas, {all} ao todo.",
        "none_shown": "Nenhuma linha encontrada, {all} ao todo.",
    },
}


def replies_page(
    table: pd.DataFrame, collection: str, scale: GradeScale, language: Language = "en"
) -> str:
    """Return the replies as one HTML page that needs nothing else.

    Parameters
    ----------
    table
        query_id, query, doc_id, title, judge, outcome (of a call, or ``not asked``), grade
        (missing: none), rationale, reference (mean of the people's grades; missing: none), grades
        (the people's, such as ``0 1 2``), n_samples. One row a judge and pair, in the order in
        which they are first shown.
    collection
        Name of the collection, for the heading.
    scale
        The grades and their names.
    language
        Of the labels; the texts of the table stay as they are.

    Returns
    -------
    str
        A page that can be opened from a file. Characters that no page can hold (control
        characters, halves of characters) are U+FFFD in it. The same table gives the same page.

    Examples
    --------
    >>> row = {
    ...     "query_id": "1", "query": "diárias", "doc_id": "NORMA-7", "title": "Portaria 7",
    ...     "judge": "m_simple", "outcome": "ok", "grade": 2, "rationale": "<b>Sim</b>",
    ...     "reference": 0.0, "grades": "0 0", "n_samples": 1,
    ... }
    >>> scale = GradeScale(grades=[{"grade": 0, "name": "no"}, {"grade": 2, "name": "yes"}])
    >>> page = replies_page(pd.DataFrame([row]), "sample", scale)
    >>> "&lt;b&gt;Sim&lt;/b&gt;" in page, "+2.00" in page
    (True, True)
    """
    labels = LABELS[language]
    script, style = template_part("replies.js"), template_part("replies.css")
    return ENVIRONMENT.get_template("replies.html.j2").render(
        language=language,
        labels=labels,
        collection=clean(collection),
        columns=COLUMNS,
        rows=_rows(table, scale.names, language),
        n_rows=len(table),
        filters=_filters(table, scale, labels),
        strong=STRONG_DIFFERENCE,
        page_sizes=PAGE_SIZES,
        first_page_size=FIRST_PAGE_SIZE,
        policy=_policy(script, style),
        script=Markup(script),
        style=Markup(style),
    )


def _policy(script: str, style: str) -> str:
    """Allow this script and this style, and nothing from anywhere else."""
    return (
        f"default-src 'none'; script-src {content_hash(script)}; style-src {content_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _rows(
    table: pd.DataFrame, names: Mapping[int, str], language: Language
) -> Iterator[dict[str, Any]]:
    """Return what each row shows, a missing value as None."""
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        grade, reference = row["grade"], row["reference"]
        difference = None if grade is None or reference is None else grade - reference
        reason = clean(row["rationale"])
        yield {
            "query_id": clean(row["query_id"]),
            "query": clean(row["query"]),
            "doc_id": clean(row["doc_id"]),
            "title": clean(row["title"]),
            "judge": clean(row["judge"]),
            "grade": grade,
            "grade_name": names.get(grade, ""),
            "n_samples": row["n_samples"] or 0,
            "outcome": row["outcome"],
            "outcome_shown": LABELS[language].get(row["outcome"], row["outcome"]),
            "reason": reason,
            "reason_is_long": len(reason) > LONG_REASON,
            "reference": reference,
            "reference_shown": _decimals(reference, ".2f", language),
            "grades": clean(row["grades"]),
            "difference": difference,
            "difference_shown": _decimals(difference, "+.2f", language),
            "strong": difference is not None and abs(difference) >= STRONG_DIFFERENCE,
        }


def _filters(
    table: pd.DataFrame, scale: GradeScale, labels: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return the choices of each filtered column: the value in the table to what is shown."""
    queries = table.drop_duplicates("query_id")
    texts = zip(queries["query_id"].map(clean), queries["query"].map(clean), strict=True)
    grades = {str(grade.grade): f"{grade.grade} {grade.name}" for grade in scale.grades}
    return {
        "judge": {name: name for name in map(clean, table["judge"].unique())},
        "query": {query_id: f"{query_id}: {text}" for query_id, text in texts},
        "grade": grades | {"none": labels["no_grade"]},
        "outcome": {name: labels.get(name, name) for name in table["outcome"].unique()},
    }


def _decimals(value: float | None, form: str, language: Language) -> str:
    if value is None:
        return "–"
    shown = format(value, form).replace("-", "−")
    return shown.replace(".", ",") if language == "pt" else shown
