"""A corpus of the size and the length distribution of NormasTCU, without its texts."""

import csv
from pathlib import Path

import numpy as np

from normastcu.collection.documents import RELEASED_DOCUMENTS

N_DOCUMENTS = 14_469
# Published percentiles of the length of TEXT in characters (method.md, section 1).
PERCENTILES = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100)
WITH_HTML = (400, 649.68, 991.4, 1158, 1500, 2504, 8525, 28787, 57916.6, 391809.2)
WITHOUT_HTML = (150, 265, 312, 339, 451, 923, 3475, 11067.8, 19508.2, 95383.56)
TOTAL_WITH_HTML = 340e6
TOTAL_WITHOUT_HTML = 98e6
OPENING = '<p class="norma" style="margin-left: {}px; text-align: justify; {}">'
WORDS = [
    "artigo",
    "parágrafo",
    "inciso",
    "tribunal",
    "contas",
    "união",
    "resolução",
    "portaria",
    "instrução",
    "normativa",
    "servidor",
    "processo",
    "prazo",
    "decisão",
    "unidade",
    "técnica",
    "plenário",
    "câmara",
    "relatório",
    "gestão",
    "exercício",
    "fiscalização",
    "responsável",
    "órgão",
    "entidade",
    "publicação",
    "vigência",
    "disposto",
    "caput",
    "&aacute;rea",
    "administra&ccedil;&atilde;o",
    "p&uacute;blica",
]


def lengths(known: tuple[float, ...], total: float) -> np.ndarray:
    """Return a length for each document, ascending: the percentiles given, and about the total.

    Between two percentiles lengths grow geometrically; the longest document is as long as the
    total needs.
    """
    shares = (np.arange(N_DOCUMENTS) + 0.5) / N_DOCUMENTS * 100

    def drawn(longest: float) -> np.ndarray:
        return np.exp(np.interp(shares, PERCENTILES, np.log([*known, longest])))

    low, high = known[-1], known[-1] * 1e4
    for _ in range(60):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if drawn(middle).sum() < total else (low, middle)
    return drawn(low).astype(int)


def act(rng: np.random.Generator, text_length: int, html_length: int) -> str:
    """Return HTML of about the given length that holds about so much text."""
    words = rng.choice(WORDS, size=max(1, text_length // 8))
    paragraphs = np.array_split(words, max(1, text_length // 300))
    markup = max(0, html_length - sum(len(word) + 1 for word in words)) // len(paragraphs)
    filling = "mso-bidi-font-size: 12.0pt; " * max(0, (markup - len(OPENING)) // 28)
    return "\n".join(
        OPENING.format(index % 90, filling) + " ".join(paragraph) + "&nbsp; &nbsp;</p>"
        for index, paragraph in enumerate(paragraphs)
    )


def write_corpus(path: Path, seed: int = 1) -> None:
    """Write the corpus as a CSV with the released columns."""
    rng = np.random.default_rng(seed)
    pairs = list(
        zip(
            lengths(WITHOUT_HTML, TOTAL_WITHOUT_HTML),
            lengths(WITH_HTML, TOTAL_WITH_HTML),
            strict=True,
        )
    )
    rng.shuffle(pairs)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(RELEASED_DOCUMENTS.values()), restval="")
        writer.writeheader()
        for number, (text_length, html_length) in enumerate(pairs):
            writer.writerow(
                {
                    "KEY": f"NORMA-{number}",
                    "TITULO": f"Portaria {number}",
                    "TEXTONORMA": act(rng, text_length, html_length),
                    "DATAINICIOVIGENCIA": "01/02/2020",
                }
            )
