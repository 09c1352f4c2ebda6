"""Settings of judges: the library of models, prompts and judges, and the active ones of it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, field_validator, model_validator

from normastcu.collection.named_settings import check_parts, part_of, slug, slugs, validated
from normastcu.collection.settings import Settings
from normastcu.judging.errors import JudgingError
from normastcu.services.settings import BaseUrl, CredentialsEntry
from normastcu.services.tokens import CutPolicy

ModelKind = Literal["openai", "huggingface"]
JudgeKind = Literal["llm", "recorded", "lexical", "imported"]

FILE = "judges.yml"
ASKED: frozenset[JudgeKind] = frozenset({"llm", "recorded"})
"""Judges that are asked by messages, so that they need a model and a prompt."""

_OWN_PARAMETERS = frozenset(
    {
        "api_key",
        "base_url",
        "max_completion_tokens",
        "max_retries",
        "max_tokens",
        "messages",
        "model",
        "n",
        "openai_api_key",
        "response_format",
        "stream",
        "timeout",
    }
)


class ModelSettings(Settings):
    """A model and how it is reached.

    Attributes
    ----------
    name
        Its name in the project; its key in ``judges.yml``.
    kind
        ``openai``: a server that speaks the OpenAI chat protocol, whoever runs it;
        ``huggingface``: a model that runs in this process.
    model
        The id by which the provider knows it.
    base_url
        The server's address; always given for ``openai``, so that nothing goes elsewhere.
    credentials
        Entry of ``credentials.yml`` or environment variable that holds the key, never the key.
        None for a server that asks for none.
    parameters
        Sent with every call, such as the temperature; part of the key of a call.
    max_reply_tokens, reply_token_cap
        Limit of a reply in tokens, and how far it is raised after a reply that was cut off.
    context_window
        Tokens that messages and reply share; of these, `reply_token_cap` are kept for the reply.
    concurrency
        Calls at a time.
    requests_per_minute, tokens_per_minute
        The provider's limits; None where there is none.
    timeout_s
        Seconds after which a call without an answer is given up.
    attempts
        How often a call that failed is made at most.
    price_in, price_out
        Price of a million tokens of messages and of replies, in one currency for all models.
        None is unknown, which is not 0.
    structured_output
        Whether the server is asked to enforce the format of the reply: by OpenAI's
        ``json_schema`` (true), or by ``json_object`` with a schema beside it, which is all that
        some servers know (llama-cpp-python's); off is the paper's way, and the only one of a
        model in this process.
    batch
        Whether the provider's batch interface is used: cheaper, done within a day, and with the
        same keys and outcomes. Prices are then those of batches.
    cut_policy
        What becomes of a document that does not fit: its beginning is kept, its two ends, or it
        is not judged.
    tokenizer
        ``tiktoken:<encoding>``, or ``huggingface:<model id, directory or tokenizer.json>``; None
        estimates the tokens, see `normastcu.services.tokens.estimate_tokens`.
    """

    model_config = ConfigDict(hide_input_in_errors=True, allow_inf_nan=False)

    name: str = Field(min_length=1)
    kind: ModelKind
    model: str = Field(min_length=1)
    base_url: BaseUrl | None = None
    credentials: CredentialsEntry | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    max_reply_tokens: int = Field(default=1024, gt=0)
    reply_token_cap: int = Field(default=4096, gt=0)
    context_window: int = Field(gt=0)
    concurrency: int = Field(default=4, gt=0)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    timeout_s: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=5, gt=0)
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    structured_output: bool | Literal["json_object"] = False
    batch: bool = False
    cut_policy: CutPolicy = "head"
    tokenizer: str | None = Field(default=None, pattern=r"^(tiktoken|huggingface):\S+$")

    @field_validator("parameters")
    @classmethod
    def _only_the_models_own(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_OWN_PARAMETERS & value.keys()):
            raise ValueError(
                f"must not hold {', '.join(taken)}: they have settings of their own, "
                "and keys go to `credentials`"
            )
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.kind == "openai" and self.base_url is None:
            raise ValueError("a model of kind openai needs its base_url")
        if self.kind == "huggingface" and self.structured_output:
            raise ValueError(
                "structured_output is for servers: nothing enforces the format of the replies of "
                "a model of kind huggingface, so leave it out"
            )
        if self.reply_token_cap < self.max_reply_tokens:
            raise ValueError("reply_token_cap must not be below max_reply_tokens")
        if self.context_window <= self.reply_token_cap:
            raise ValueError("context_window must be above reply_token_cap")
        return self


class PromptSettings(Settings):
    """A prompt: its name in the project, and its file in the folder of prompts."""

    name: str = Field(min_length=1)
    file: str = Field(pattern=r"^[^/\\]+\.md$")


class LexicalSettings(Settings):
    """How the lexical baseline grades.

    Attributes
    ----------
    thresholds
        For each grade but the lowest, the least share of the query's terms that the document must
        hold; empty spaces the grades evenly (half and all of the terms for grades 0, 1, 2).
    stopwords
        Words that are no terms: those of Portuguese (``pt``) or English (``en``), or ``none``.
    prefix
        Letters by which two words are compared, so that plural and singular are one term.
    """

    thresholds: dict[int, float] = Field(default_factory=dict)
    stopwords: Literal["pt", "en", "none"] = "pt"
    prefix: int = Field(default=6, gt=0)


class JudgeSettings(Settings):
    """A judge as the library describes it.

    Attributes
    ----------
    name
        Its name; its key in ``judges.yml``, else ``{model}_{prompt}``.
    kind
        ``llm``: asked; ``recorded``: asked before, its replies come with the collection;
        ``lexical``: the baseline; ``imported``: its labels or replies come from a file, so that it
        is never active.
    model, prompt
        Names of the library's entries; judges that are asked need both, others have none.
    samples
        How often each pair is asked.
    least_coverage
        Share of the pairs that must have a grade.
    lexical
        How the lexical baseline grades.
    """

    name: str = Field(pattern=r"^\S+$")
    kind: JudgeKind = "llm"
    model: str | None = None
    prompt: str | None = None
    samples: int = Field(default=1, ge=1, le=100)
    least_coverage: float = Field(default=0.95, ge=0, le=1)
    lexical: LexicalSettings = LexicalSettings()

    @model_validator(mode="after")
    def _model_and_prompt_where_asked(self) -> Self:
        given = self.model is not None, self.prompt is not None
        if self.kind in ASKED and given != (True, True):
            raise ValueError(f"a judge of kind {self.kind} needs a model and a prompt")
        if self.kind not in ASKED and given != (False, False):
            raise ValueError(f"a judge of kind {self.kind} has no model and no prompt")
        return self


class Judge(Settings):
    """An active judge with everything the library says about it.

    Attributes
    ----------
    name, slug
        Its name, and the name of its namespace (``[a-z0-9_]``).
    kind, samples, least_coverage, lexical
        See `JudgeSettings`.
    model, prompt
        There for the kinds that are asked (`ASKED`), None for the others.
    """

    name: str
    slug: str
    kind: JudgeKind
    samples: int
    least_coverage: float
    lexical: LexicalSettings
    model: ModelSettings | None = None
    prompt: PromptSettings | None = None


def judge_name(model: str, prompt: str) -> str:
    """Return the name of the judge that one model makes under one prompt.

    Examples
    --------
    >>> judge_name("gpt-5-mini", "rationale")
    'gpt-5-mini_rationale'
    """
    return f"{model}_{prompt}"


Active = Sequence[str | Mapping[str, Any]]


def load_judges(library: Mapping[str, Any], active: Active) -> list[Judge]:
    """Look the active judges up in the library.

    Parameters
    ----------
    library
        ``judges.yml``: the mappings ``models``, ``prompts`` and ``judges``, each from a name to
        settings.
    active
        What an environment names. A text is a judge of the library, or ``{model}_{prompt}`` of
        its entries. A mapping with the lists ``models`` and ``prompts`` stands for every judge
        they make together; ``samples`` and ``least_coverage`` beside them count for those that
        the library does not list itself.

    Returns
    -------
    list of Judge
        In the order of `active`, models before prompts in a product.

    Raises
    ------
    JudgingError
        For an unknown name or setting, a wrong value, two judges of one name or one slug, and a
        judge whose labels come from a file.

    Examples
    --------
    >>> local = {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:8080/v1"}
    >>> library = {
    ...     "models": {"local": {**local, "context_window": 8192}},
    ...     "prompts": {"simple": {"file": "simple.pt.md"}},
    ...     "judges": {"lexical": {"kind": "lexical"}},
    ... }
    >>> [judge.name for judge in load_judges(library, ["lexical", "local_simple"])]
    ['lexical', 'local_simple']
    """
    known = _Library(library)
    judges = [known.judge(settings) for entry in active for settings in known.described(entry)]
    slugs((judge.name for judge in judges), "judges")
    for judge in judges:
        if judge.kind == "imported":
            raise JudgingError(
                f"The judge {judge.name!r} is imported and can't be active: it is never asked. "
                "Give its labels with `judge_labels`, or its raw replies with `raw_replies`, in "
                "globals.yml, and take it out of `active_judges`."
            )
    return judges


S = TypeVar("S", bound=Settings)


class _Library:
    """The entries of ``judges.yml``; only what an active judge uses is validated."""

    def __init__(self, library: Mapping[str, Any]) -> None:
        check_parts(library, ("models", "prompts", "judges"), FILE)
        self._models = part_of(library, "models", FILE)
        self._prompts = part_of(library, "prompts", FILE)
        self._judges = part_of(library, "judges", FILE)

    def described(self, entry: str | Mapping[str, Any]) -> Iterator[JudgeSettings]:
        """Describe the judges that an entry of the active ones stands for."""
        if isinstance(entry, str):
            yield self._by_name(entry)
            return
        chosen = validated(_Product, entry, "The product of active judges")
        for model, prompt in product(chosen.models, chosen.prompts):
            name = judge_name(model, prompt)
            yield (
                self._listed(name)
                if name in self._judges
                else JudgeSettings(
                    name=name,
                    model=model,
                    prompt=prompt,
                    samples=chosen.samples,
                    least_coverage=chosen.least_coverage,
                )
            )

    def judge(self, settings: JudgeSettings) -> Judge:
        """Put the settings of a judge's model and prompt in the place of their names."""
        return Judge(
            name=settings.name,
            slug=slug(settings.name),
            kind=settings.kind,
            samples=settings.samples,
            least_coverage=settings.least_coverage,
            lexical=settings.lexical,
            model=self._entry(ModelSettings, "models", self._models, settings.model),
            prompt=self._entry(PromptSettings, "prompts", self._prompts, settings.prompt),
        )

    def _by_name(self, name: str) -> JudgeSettings:
        if name in self._judges:
            return self._listed(name)
        pairs = product(self._models, self._prompts)
        made = [(model, prompt) for model, prompt in pairs if judge_name(model, prompt) == name]
        if len(made) != 1:
            raise JudgingError(
                f"The active judge {name!r} is {'ambiguous' if made else 'unknown'}: list it under "
                "`judges` in judges.yml, or name it {model}_{prompt}. Known judges: "
                f"{', '.join(self._judges) or 'none'}; models: {', '.join(self._models) or 'none'};"
                f" prompts: {', '.join(self._prompts) or 'none'}."
            )
        return JudgeSettings(name=name, model=made[0][0], prompt=made[0][1])

    def _listed(self, name: str) -> JudgeSettings:
        return validated(
            JudgeSettings, {"name": name, **self._judges[name]}, f"judges.yml, judges.{name}"
        )

    @staticmethod
    def _entry(
        settings: type[S], part: str, entries: Mapping[str, Any], name: str | None
    ) -> S | None:
        if name is None:
            return None
        if name not in entries:
            raise JudgingError(
                f"judges.yml has no entry {name!r} under `{part}`. Known: "
                f"{', '.join(entries) or 'none'}."
            )
        return validated(settings, {"name": name, **entries[name]}, f"judges.yml, {part}.{name}")


class _Product(Settings):
    """Every chosen model under every chosen prompt."""

    models: tuple[str, ...] = Field(min_length=1)
    prompts: tuple[str, ...] = Field(min_length=1)
    samples: int = JudgeSettings.model_fields["samples"].default
    least_coverage: float = JudgeSettings.model_fields["least_coverage"].default
