"""Texts as long as those of NormasTCU, of words that are about as frequent as those of a language.

The words are made up of Portuguese syllables and endings, so that analyzers have work to do; their
frequencies follow Zipf's law with Mandelbrot's shift. Words are drawn independently of each other:
a document holds more different terms than a real one of its length.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.benchmarks.generated_corpus import TOTAL_WITHOUT_HTML, WITHOUT_HTML, lengths

VOCABULARY = 200_000
SHIFT = 2.7
SUBJECT_WORDS = 30
QUERIES = 46
CHUNK = 500
MOST_FREQUENT = (
    "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à "
    "seu sua ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos"
)
ONSETS = [*"bcdfglmnprstv", "br", "cr", "tr", "pr", "gr", "qu", "ch", "lh", "nh"]
NUCLEI = [*"aeiouêáéí", "ão", "ei", "ou"]
ENDINGS = ["", "", "s", "ção", "ções", "mente", "dor", "dores", "ado", "ida", "ar", "ando", "al"]


def vocabulary(rng: np.random.Generator) -> np.ndarray:
    """Return words, the most frequent first."""
    words = dict.fromkeys(MOST_FREQUENT.split())
    while len(words) < VOCABULARY:
        syllables = np.char.add(drawn(rng, ONSETS, 3), drawn(rng, NUCLEI, 3))
        endings = drawn(rng, ENDINGS, 1)[:, 0]
        for own, n, ending in zip(syllables, rng.integers(1, 4, VOCABULARY), endings, strict=True):
            words["".join(own[:n]) + ending] = None
    return np.array(list(words)[:VOCABULARY], dtype=object)


def drawn(rng: np.random.Generator, choices: list[str], n: int) -> np.ndarray:
    return np.array(choices)[rng.integers(0, len(choices), (VOCABULARY, n))]


class Words:
    """Draws words by their frequency."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._words = vocabulary(rng)
        frequency = 1 / (np.arange(VOCABULARY) + SHIFT)
        self._cumulated = np.cumsum(frequency / frequency.sum())
        n_characters = np.array([len(word) + 1 for word in self._words])
        self.mean_length = float((n_characters * frequency).sum() / frequency.sum())

    def texts(self, n_words: np.ndarray) -> list[str]:
        """Return a text for each number of words."""
        chosen = np.searchsorted(self._cumulated, self._rng.random(int(n_words.sum())))
        parts = np.split(self._words[chosen], np.cumsum(n_words)[:-1])
        return [" ".join(part.tolist()) for part in parts]


def write_texts(folder: Path, scale: int, seed: int = 1) -> None:
    """Write `documents.parquet` (doc_id, subject, text) and `queries.parquet` (query_id, text)."""
    rng = np.random.default_rng(seed)
    words = Words(rng)
    wanted = np.tile(lengths(WITHOUT_HTML, TOTAL_WITHOUT_HTML), scale)
    rng.shuffle(wanted)
    n_words = np.maximum(1, (wanted / words.mean_length).astype(int))
    schema = pa.schema([(name, pa.large_string()) for name in ("doc_id", "subject", "text")])
    with pq.ParquetWriter(folder / "documents.parquet", schema) as writer:
        for start in range(0, len(n_words), CHUNK):
            sizes = n_words[start : start + CHUNK]
            columns = [
                [f"NORMA-{start + i}" for i in range(len(sizes))],
                words.texts(np.full(len(sizes), SUBJECT_WORDS)),
                words.texts(sizes),
            ]
            writer.write_table(pa.table(columns, schema=schema))
    queries = {
        "query_id": [f"{i}" for i in range(QUERIES)],
        "text": words.texts(rng.integers(8, 24, QUERIES)),
    }
    pq.write_table(pa.table(queries), folder / "queries.parquet")


if __name__ == "__main__":
    write_texts(Path(sys.argv[1]), int(sys.argv[2]))
