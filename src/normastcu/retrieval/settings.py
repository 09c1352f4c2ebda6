"""Settings of systems: the library of encoders, rerankers and systems."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from normastcu.collection.settings import Settings
from normastcu.services.settings import BaseUrl, CredentialsEntry

DocumentField = Literal["title", "subject", "tags", "text", "theme"]
"""A column of the documents that can be searched or encoded."""

FALLBACK: tuple[DocumentField | Literal["doc_id"], ...] = ("subject", "title", "doc_id")
"""What is encoded or reranked instead, where all chosen fields of a document are empty."""


class Entry(Settings):
    """Base of what the library lists by name."""

    model_config = ConfigDict(hide_input_in_errors=True, allow_inf_nan=False)

    name: str = Field(pattern=r"^[^\s/\\]+$")


class SentenceTransformersEncoder(Entry):
    """An encoder that runs in this process through sentence-transformers.

    Attributes
    ----------
    model, revision
        A model id of the hub, or a folder; the commit, tag or branch.
    max_length
        Tokens after which a text is cut; None takes the model's own limit.
    query_prefix, document_prefix
        Put before each text, as the model was trained with.
    batch_size
        Texts encoded at a time.
    """

    kind: Literal["sentence_transformers"] = "sentence_transformers"
    model: str = Field(min_length=1)
    revision: str | None = None
    max_length: int | None = Field(default=None, gt=0)
    query_prefix: str = ""
    document_prefix: str = ""
    batch_size: int = Field(default=16, gt=0)


class ApiEncoder(Entry):
    """An encoder behind a server that speaks the OpenAI embeddings protocol, whoever runs it.

    Attributes
    ----------
    model
        The id by which the provider knows it.
    base_url
        The server's address; always given, so that nothing goes elsewhere.
    credentials
        Entry of ``credentials.yml`` or environment variable that holds the key, never the key;
        None for a server that asks for none.
    dimensions
        Length of a vector that is asked for; None takes the model's own.
    max_tokens
        What the model takes of one text; a longer one is cut to its head.
    tokenizer
        ``tiktoken:<encoding>`` or ``huggingface:<model id, folder or tokenizer.json>``; None
        estimates the tokens.
    query_prefix, document_prefix
        Put before each text, as the model was trained with.
    batch_size
        Texts in one call.
    concurrency
        Calls at a time.
    requests_per_minute, tokens_per_minute
        The provider's limits; None where there is none.
    timeout_s
        Seconds after which a call without an answer is given up.
    attempts
        How often a call that failed is made at most.
    price_in
        Price of a million tokens; None is unknown, which is not 0.
    """

    kind: Literal["api"] = "api"
    model: str = Field(min_length=1)
    base_url: BaseUrl
    credentials: CredentialsEntry | None = None
    dimensions: int | None = Field(default=None, gt=0)
    max_tokens: int = Field(gt=0)
    tokenizer: str | None = Field(default=None, pattern=r"^(tiktoken|huggingface):\S+$")
    query_prefix: str = ""
    document_prefix: str = ""
    batch_size: int = Field(default=16, gt=0)
    concurrency: int = Field(default=4, gt=0)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    timeout_s: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=5, gt=0)
    price_in: float | None = Field(default=None, ge=0)


class SvdEncoder(Entry):
    """An encoder that needs no download: TF-IDF of the corpus itself, cut by a truncated SVD.

    It is fitted on the documents of the collection, so it is a stand-in for a trained encoder.

    Attributes
    ----------
    components
        Length of a vector; a smaller corpus gives fewer.
    seed
        Of the randomised SVD.
    """

    kind: Literal["svd"] = "svd"
    components: int = Field(default=128, gt=0)
    seed: int = Field(default=0, ge=0)


Encoder = Annotated[
    SentenceTransformersEncoder | ApiEncoder | SvdEncoder, Field(discriminator="kind")
]


class CrossEncoderReranker(Entry):
    """A cross-encoder of sentence-transformers: query and text together give a score.

    Attributes
    ----------
    model, revision
        A model id of the hub, or a folder; the commit, tag or branch.
    max_length
        Tokens of query and text together; None takes the model's own limit.
    batch_size
        Pairs scored at a time.
    """

    kind: Literal["cross_encoder"] = "cross_encoder"
    model: str = Field(min_length=1)
    revision: str | None = None
    max_length: int | None = Field(default=None, gt=0)
    batch_size: int = Field(default=16, gt=0)


class Seq2SeqReranker(Entry):
    """A sequence-to-sequence reranker of the monoT5 kind (Nogueira et al. 2020).

    Attributes
    ----------
    model, revision
        A model id of the hub, or a folder; the commit, tag or branch.
    yes, no
        The tokens whose probabilities are compared, as the tokenizer writes them.
    template
        The input; ``{query}`` and ``{document}`` stand for the two texts.
    max_length
        Tokens of the whole input; the document's end is cut.
    batch_size
        Pairs scored at a time.
    """

    kind: Literal["seq2seq"] = "seq2seq"
    model: str = Field(min_length=1)
    revision: str | None = None
    yes: str = Field(min_length=1)
    no: str = Field(min_length=1)
    template: str = "Query: {query} Document: {document} Relevant:"
    max_length: int = Field(default=512, gt=0)
    batch_size: int = Field(default=8, gt=0)

    @model_validator(mode="after")
    def _holds_both_texts(self) -> Self:
        missing = [name for name in ("{query}", "{document}") if name not in self.template]
        if missing:
            raise ValueError(f"the template must hold {' and '.join(missing)}")
        return self


class LexicalReranker(Entry):
    """A reranker without a model: how many of the query's terms a text holds, and how close.

    Attributes
    ----------
    prefix
        Letters by which two words are compared, so that plural and singular are one term.
    """

    kind: Literal["lexical"] = "lexical"
    prefix: int = Field(default=6, gt=0)


Reranker = Annotated[
    CrossEncoderReranker | Seq2SeqReranker | LexicalReranker, Field(discriminator="kind")
]


class Passages(Settings):
    """How a long document is taken apart; its best passage's score is its own (maxp).

    Attributes
    ----------
    words
        Words of a passage.
    stride
        Words from the start of a passage to that of the next.
    """

    words: int = Field(default=200, gt=0)
    stride: int = Field(default=100, gt=0)

    @model_validator(mode="after")
    def _leaves_no_word_out(self) -> Self:
        if self.stride > self.words:
            raise ValueError(f"stride {self.stride} must not be above words {self.words}")
        return self


def _distinct(fields: tuple[DocumentField, ...]) -> tuple[DocumentField, ...]:
    if len(set(fields)) < len(fields):
        raise ValueError(f"the fields {', '.join(fields)} must be distinct")
    return fields


class System(Entry):
    """Base of a system.

    Attributes
    ----------
    family
        Systems of one family are near relatives: coefficients are also computed with one of each.
    """

    family: str = Field(min_length=1)


class Bm25System(System):
    """Lucene's BM25 over a representation: the named fields, one after the other."""

    kind: Literal["bm25"] = "bm25"
    fields: Annotated[tuple[DocumentField, ...], AfterValidator(_distinct)] = Field(min_length=1)
    k1: float = Field(ge=0)
    b: float = Field(ge=0, le=1)


class DenseSystem(System):
    """Cosine of embeddings, exact search.

    Attributes
    ----------
    encoder
        An entry of the library.
    fields
        What of a document is encoded, in this order; where all are empty, see `FALLBACK`.
    passages
        None encodes the whole document as one vector.
    """

    kind: Literal["dense"] = "dense"
    encoder: Encoder
    fields: Annotated[tuple[DocumentField, ...], AfterValidator(_distinct)] = Field(min_length=1)
    passages: Passages | None = None


class RerankSystem(System):
    """The first documents of a system, in another order.

    Attributes
    ----------
    first
        The system whose first documents are taken.
    depth
        How many of them.
    by
        A system whose ranks reorder them; documents that it lacks keep their order at the end.
    reranker, fields, passages
        Or what scores them anew, and the text that it sees.
    """

    kind: Literal["rerank"] = "rerank"
    first: str
    depth: int = Field(gt=0)
    by: str | None = None
    reranker: Reranker | None = None
    fields: tuple[DocumentField, ...] = ()
    passages: Passages | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.by is None) == (self.reranker is None):
            raise ValueError("give either `by` (a system) or `reranker`")
        if (self.reranker is not None) != bool(self.fields):
            raise ValueError("`fields` are given with a `reranker`, and only with one")
        if self.passages is not None and self.reranker is None:
            raise ValueError("`passages` are given with a `reranker` only")
        return self


class HybridSystem(System):
    """Several systems in one list.

    Attributes
    ----------
    systems
        Names of systems.
    shares
        With shares (they sum to 1), `candidates` distinct documents are taken in turns, each
        system's share from its first ranks, filled up from the next ranks of all in proportion.
        Without, all documents are taken. The list is ordered by reciprocal rank fusion.
    candidates
        How many documents, given with shares.
    rrf_k
        The constant of reciprocal rank fusion (Cormack et al. 2009).
    """

    kind: Literal["hybrid"] = "hybrid"
    systems: tuple[str, ...] = Field(min_length=2)
    shares: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = ()
    candidates: int | None = Field(default=None, gt=0)
    rrf_k: float = Field(default=60, gt=0)

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if len(set(self.systems)) < len(self.systems):
            raise ValueError(f"the systems {', '.join(self.systems)} must be distinct")
        if self.shares and len(self.shares) != len(self.systems):
            raise ValueError(f"{len(self.shares)} shares for {len(self.systems)} systems")
        if self.shares and abs(sum(self.shares) - 1) > 1e-9:
            raise ValueError(f"the shares sum to {sum(self.shares):g}, not to 1")
        if bool(self.shares) != (self.candidates is not None):
            raise ValueError("`shares` and `candidates` are given together")
        return self


class ExternalSystem(System):
    """A run made elsewhere.

    Attributes
    ----------
    file
        Its name among the files of `external_runs`: a TREC run, or a CSV.
    columns
        Canonical name (query_id, doc_id, rank, score) to the file's column; empty goes by the
        header.
    restrict
        Whether documents that the collection lacks are taken out (the others move up), which the
        report says; else such a document is an error.
    """

    kind: Literal["external"] = "external"
    file: str = Field(min_length=1)
    columns: dict[str, str] = Field(default_factory=dict)
    restrict: bool = False


AnySystem = Annotated[
    Bm25System | DenseSystem | RerankSystem | HybridSystem | ExternalSystem,
    Field(discriminator="kind"),
]


def representation(fields: tuple[DocumentField, ...]) -> str:
    """Return the name of a representation: its fields in order.

    Examples
    --------
    >>> representation(("subject", "text"))
    'subject+text'
    """
    return "+".join(fields)
