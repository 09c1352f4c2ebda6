"""May a judge rank systems? The answer for each judge and measure, in one word and one sentence.

*Usable* takes enough systems that retrieve anything, and one of two things: the interval of tau-b
with the reference lies above a bound, or the judge's tau-b with the leave-one-out references is
shown to be no more than a margin below the people's own. An interval that merely spans the bound
shows nothing.

The BCa interval of a correlation holds the true one more rarely than it says: mostly it lies too
low, now and then too high. That of a difference to people lies too high where people are really
better (see `shrinkage`). The shrunken ones stand beside them, in the sentence too, and unless the
rule says otherwise both have to lie above the bound, so that no judge is called usable by an
interval that promises too much.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import pandas as pd
from pydantic import Field, field_validator

from normastcu.collection.frames import typed_frame
from normastcu.collection.settings import Settings
from normastcu.evaluation.bootstrap import COMPARED_DECIMALS, CONFIDENCES
from normastcu.evaluation.human_ceiling import MEAN, MINUS_PEOPLE
from normastcu.evaluation.systems import Row

Language = Literal["en", "pt"]

COEFFICIENT = "tau_b"
WIDEST = 1.9
"""An interval of a correlation that is so wide says nothing, and its middle is no estimate."""
USABLE = "usable to rank systems"
NOT_SHOWN = "not shown"
NOT_ENOUGH_SYSTEMS = "not enough systems"
UNDEFINED = "undefined"
VERDICTS = (USABLE, NOT_SHOWN, NOT_ENOUGH_SYSTEMS, UNDEFINED)
BESIDE_PEOPLE = ("tau_minus_people_low", "minus_people_shrunken_low")
BY_BOUND = "bound"
BY_PEOPLE = "people"
BY_BOTH = "bound, people"

TEXT = "str"
NUMBER = "Float64"
WHOLE = "Int64"
TYPES = {
    "judge": TEXT,
    "measure": TEXT,
    "verdict": TEXT,
    "sentence": TEXT,
    "tau": NUMBER,
    "n_systems": WHOLE,
    "ci90_low": NUMBER,
    "ci90_high": NUMBER,
    "ci95_low": NUMBER,
    "ci95_high": NUMBER,
    "ci_method": TEXT,
    "n_queries": WHOLE,
    "undefined": TEXT,
    "shown_by": TEXT,
    "bound": NUMBER,
    "least_systems": WHOLE,
    "confidence": NUMBER,
    "interval": TEXT,
    "tau_minus_people": NUMBER,
    "tau_minus_people_low": NUMBER,
    "tau_minus_people_high": NUMBER,
    "margin": NUMBER,
    "minus_people_shrunken": NUMBER,
    "minus_people_shrunken_low": NUMBER,
    "minus_people_shrunken_high": NUMBER,
    "tau_shrunken": NUMBER,
    "shrunken_low": NUMBER,
    "shrunken_high": NUMBER,
    "n_retrieving": WHOLE,
    "n_pairs_left_out": WHOLE,
    "cost_per_1000_pairs": NUMBER,
    "sentence_pt": TEXT,
}


class VerdictRule(Settings):
    """What makes a judge usable to rank systems.

    Attributes
    ----------
    least_systems
        Fewer systems that retrieve anything are not enough to tell.
    bound
        The lower end of the interval of tau-b must lie above it; Voorhees (2001) calls 0.9 and more
        equivalent.
    margin
        Or: the lower end of the interval of the judge's tau-b minus the people's, both with the
        leave-one-out references, must lie above minus this.
    confidence
        Of the intervals that decide.
    interval
        Which interval is held against the bound, or against the margin: ``bca``, ``shrunken``, or
        ``both``.
    """

    least_systems: int = Field(default=10, ge=2)
    bound: float = Field(default=0.9, ge=-1, lt=1)
    margin: float = Field(default=0.05, ge=0, le=2)
    confidence: float = 0.9
    interval: Literal["bca", "shrunken", "both"] = "both"

    @field_validator("confidence")
    @classmethod
    def _of_the_tables(cls, value: float) -> float:
        if value not in CONFIDENCES:
            raise ValueError(f"{value} must be one of {', '.join(map(str, CONFIDENCES))}")
        return value


def verdicts(
    correlations: pd.DataFrame,
    ceiling: pd.DataFrame,
    shrunken: pd.DataFrame,
    judges: Sequence[str],
    rule: VerdictRule,
    *,
    n_retrieving: int | None = None,
    n_left_out: Mapping[str, int] | None = None,
    costs: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Give the verdict on every judge and measure, with its numbers and its sentence.

    Parameters
    ----------
    correlations : DataFrame
        What `rank_correlation` returns; of it tau-b of all systems on the common queries counts.
    ceiling : DataFrame
        What `human_ceiling.ranking_ceiling` returns; empty where nobody can be left out.
    shrunken : DataFrame
        What `shrinkage.shrunken_intervals` and `shrinkage.shrunken_differences` return.
    judges : sequence of str
        Qrels that get a verdict, in the order of the table.
    rule : VerdictRule
        The bounds.
    n_retrieving : int, optional
        Systems that retrieve anything; the others tie under every qrels, which is no agreement. By
        default all do.
    n_left_out : mapping of str to int, optional
        Pairs that a judge was asked for and did not grade.
    costs : mapping of str to float, optional
        What a judge costs for 1,000 pairs, where that is known.

    Returns
    -------
    DataFrame
        `judge`, `measure`, `verdict` (one of `VERDICTS`), `sentence`, `tau`, `n_systems`, the
        interval, `n_queries`, `undefined`, `shown_by` (bound, people, both, or nothing), the rule,
        the difference to people and the shrunken estimates with their intervals at the rule's
        confidence, `n_retrieving`, `n_pairs_left_out`, `cost_per_1000_pairs`, `sentence_pt`.
    """
    ends = _ends(rule)
    differences = ceiling[ceiling["statistic"] == MINUS_PEOPLE.format(COEFFICIENT)]
    rows: list[Row] = []
    for judge, own in _of_judges(correlations, judges):
        people = _row(differences, annotator=judge, measure=own["measure"], reference=MEAN)
        shrunk, beside_people = (
            _row(shrunken, qrels=judge, measure=own["measure"], coefficient=name)
            for name in (COEFFICIENT, MINUS_PEOPLE.format(COEFFICIENT))
        )
        row: Row = {
            **{name: own[name] for name in TYPES if name in own},
            "judge": judge,
            "tau": own["value"],
            **rule.model_dump(),
            "tau_minus_people": people.get("value"),
            "tau_minus_people_low": people.get(ends[0]),
            "tau_minus_people_high": people.get(ends[1]),
            "minus_people_shrunken": beside_people.get("shrunken"),
            "minus_people_shrunken_low": beside_people.get(ends[0]),
            "minus_people_shrunken_high": beside_people.get(ends[1]),
            "tau_shrunken": None if _says_nothing(shrunk, ends) else shrunk.get("shrunken"),
            "shrunken_low": shrunk.get(ends[0]),
            "shrunken_high": shrunk.get(ends[1]),
            "n_retrieving": own["n_systems"] if n_retrieving is None else n_retrieving,
            "n_pairs_left_out": (n_left_out or {}).get(judge, 0),
            "cost_per_1000_pairs": (costs or {}).get(judge),
        }
        row["verdict"], row["shown_by"] = decide(row, rule)
        row |= {"sentence": sentence(row), "sentence_pt": sentence(row, "pt")}
        rows.append(row)
    complete = [dict.fromkeys(TYPES) | row for row in rows]
    return typed_frame([[row[name] for name in TYPES] for row in complete], TYPES)


def _says_nothing(shrunk: Mapping[str, object], ends: tuple[str, str]) -> bool:
    """Say whether an interval of a correlation holds nearly all that there is, from -1 to 1."""
    low, high = (shrunk.get(end) for end in ends)
    if not isinstance(low, float) or not isinstance(high, float):
        return False
    return high - low >= WIDEST


def decide(row: Mapping[str, object], rule: VerdictRule) -> tuple[str, str | None]:
    """Return the verdict on one judge and measure, and what shows it.

    Parameters
    ----------
    row : mapping
        `tau`, `n_retrieving`, the lower ends of its intervals (``ci90_low`` or ``ci95_low``, and
        `shrunken_low`) and of those of the difference to people (`tau_minus_people_low`,
        `minus_people_shrunken_low`); what there is not is missing or None.
    rule : VerdictRule
        The bounds.

    Examples
    --------
    >>> row = {"tau": 0.95, "n_retrieving": 15, "ci90_low": 0.91, "shrunken_low": 0.92}
    >>> decide(row, VerdictRule())
    ('usable to rank systems', 'bound')
    >>> decide(row | {"shrunken_low": 0.9}, VerdictRule())
    ('not shown', None)
    """
    n_retrieving = row["n_retrieving"]
    assert isinstance(n_retrieving, int)
    if n_retrieving < rule.least_systems:
        return NOT_ENOUGH_SYSTEMS, None
    if _missing(row["tau"]):
        return UNDEFINED, None
    by_bound = all(_above(row.get(low), rule.bound) for low in _lows(rule.interval, _ends(rule)[0]))
    beside = _lows(rule.interval, *BESIDE_PEOPLE)
    by_people = all(_above(row.get(low), -rule.margin) for low in beside)
    if by_bound and by_people:
        return USABLE, BY_BOTH
    if by_bound or by_people:
        return USABLE, BY_BOUND if by_bound else BY_PEOPLE
    return NOT_SHOWN, None


def _lows(interval: str, bca: str, shrunken: str = "shrunken_low") -> list[str]:
    """Return the columns of the lower ends that decide."""
    return {"bca": [bca], "shrunken": [shrunken]}.get(interval, [bca, shrunken])


def sentence(row: Mapping[str, object], language: Language = "en") -> str:
    """Say a verdict with its numbers, in English or in Portuguese.

    Parameters
    ----------
    row : mapping
        A row of the table that `verdicts` returns, `verdict` among its columns.
    language : {'en', 'pt'}
        Of the sentence.
    """
    low, high = _ends_of(row["confidence"])
    numbers = {name: _number(value, language) for name, value in row.items()}
    confidence = row["confidence"]
    assert isinstance(confidence, float)
    numbers |= {"low": numbers[low], "high": numbers[high], "percent": f"{100 * confidence:g}"}
    # The reason behind a method, in brackets, stands in the table.
    methods = (method.split(" (")[0] for method in str(row["ci_method"]).split("; "))
    numbers["ci_method"] = "; ".join(METHODS[language].get(name, name) for name in methods)
    words = WORDS[language]
    return " ".join(words[part] for part in _parts(row, low)).format(**numbers)


def _parts(row: Mapping[str, object], low: str) -> Iterator[str]:
    """Yield what a sentence is made of, in the order in which it is said."""
    yield str(row["verdict"])
    if _missing(row["tau"]):
        yield "no_tau"
    else:
        yield "tau_alone" if _missing(row[low]) else "tau"
        if not _missing(row["shrunken_low"]):
            yield "nothing_shrunken" if _missing(row["tau_shrunken"]) else "shrunken"
        yield from _reasons(row, low)
    if row["n_pairs_left_out"]:
        yield "left_out"


def _reasons(row: Mapping[str, object], low: str) -> Iterator[str]:
    """Yield what made the judge usable, or what would have."""
    people = "" if _missing(row["minus_people_shrunken_low"]) else "_shrunken"
    if row["verdict"] == USABLE:
        shown_by = str(row["shown_by"])
        if BY_BOUND in shown_by:
            yield "above_bound"
        if BY_PEOPLE in shown_by:
            yield f"like_people{people}"
    elif row["verdict"] == NOT_SHOWN:
        needed = _lows(str(row["interval"]), low)
        missing = any(_missing(row[end]) for end in needed)
        yield "bound_missing" if missing else f"bound_{row['interval']}"
        if not _missing(row["tau_minus_people_low"]):
            yield f"people{people}"
            yield f"margin_{row['interval']}"


WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        USABLE: "{judge} is usable to rank systems by {measure}.",
        NOT_SHOWN: "It is not shown that {judge} can rank systems by {measure}.",
        NOT_ENOUGH_SYSTEMS: (
            "There are too few systems to tell whether {judge} can rank them by {measure}: "
            "{n_retrieving} that retrieve anything, of at least {least_systems}."
        ),
        UNDEFINED: "Whether {judge} can rank systems by {measure} can't be told.",
        "tau": (
            "Kendall's tau-b with the reference is {tau} ({percent} % interval {low} to {high}, "
            "{ci_method}; queries: {n_queries}, systems: {n_systems})."
        ),
        "tau_alone": (
            "Kendall's tau-b with the reference is {tau}, without an interval (queries: "
            "{n_queries}, systems: {n_systems})."
        ),
        "no_tau": (
            "Kendall's tau-b with the reference is undefined: {undefined} (queries: {n_queries}, "
            "systems: {n_systems})."
        ),
        "shrunken": (
            "With the noise of the queries taken out it is {tau_shrunken} ({shrunken_low} to "
            "{shrunken_high})."
        ),
        "nothing_shrunken": (
            "With the noise of the queries taken out, these queries say nothing about it "
            "({shrunken_low} to {shrunken_high})."
        ),
        "above_bound": "What decides lies above the bound {bound}.",
        "like_people": (
            "It is shown to be no more than {margin} below the people's own: its tau-b with the "
            "leave-one-out references minus theirs is {tau_minus_people} "
            "({tau_minus_people_low} to {tau_minus_people_high})."
        ),
        "like_people_shrunken": (
            "It is shown to be no more than {margin} below the people's own: its tau-b with the "
            "leave-one-out references minus theirs is {tau_minus_people} "
            "({tau_minus_people_low} to {tau_minus_people_high}), without the noise "
            "{minus_people_shrunken} ({minus_people_shrunken_low} to {minus_people_shrunken_high})."
        ),
        "bound_missing": (
            "An interval that would have to lie above {bound} is undefined, so it shows nothing."
        ),
        "bound_bca": "The first interval has to lie above {bound}.",
        "bound_shrunken": "The second interval has to lie above {bound}.",
        "bound_both": "Both intervals have to lie above {bound}.",
        "people": (
            "Its tau-b with the leave-one-out references minus the people's own is "
            "{tau_minus_people} ({tau_minus_people_low} to {tau_minus_people_high})."
        ),
        "people_shrunken": (
            "Its tau-b with the leave-one-out references minus the people's own is "
            "{tau_minus_people} ({tau_minus_people_low} to {tau_minus_people_high}), without the "
            "noise {minus_people_shrunken} ({minus_people_shrunken_low} to "
            "{minus_people_shrunken_high})."
        ),
        "margin_bca": "It would do as well if the first interval of that lay above \u2212{margin}.",
        "margin_shrunken": (
            "It would do as well if the second interval of that lay above \u2212{margin}."
        ),
        "margin_both": "It would do as well if both intervals of that lay above \u2212{margin}.",
        "left_out": "Pairs without its grade, left out on both sides: {n_pairs_left_out}.",
    },
    "pt": {
        USABLE: "{judge} serve para ordenar sistemas por {measure}.",
        NOT_SHOWN: "Não está demonstrado que {judge} possa ordenar sistemas por {measure}.",
        NOT_ENOUGH_SYSTEMS: (
            "Há sistemas de menos para dizer se {judge} serve para ordená-los por {measure}: "
            "{n_retrieving} que recuperam algo, de pelo menos {least_systems}."
        ),
        UNDEFINED: "Não se pode dizer se {judge} serve para ordenar sistemas por {measure}.",
        "tau": (
            "O tau-b de Kendall com a referência é {tau} (intervalo de {percent} %: {low} a "
            "{high}, {ci_method}; consultas: {n_queries}, sistemas: {n_systems})."
        ),
        "tau_alone": (
            "O tau-b de Kendall com a referência é {tau}, sem intervalo (consultas: "
            "{n_queries}, sistemas: {n_systems})."
        ),
        "no_tau": (
            "O tau-b de Kendall com a referência é indefinido ({undefined}; consultas: "
            "{n_queries}, sistemas: {n_systems})."
        ),
        "shrunken": (
            "Descontado o ruído das consultas, é {tau_shrunken} ({shrunken_low} a {shrunken_high})."
        ),
        "nothing_shrunken": (
            "Descontado o ruído das consultas, estas consultas nada dizem sobre ele "
            "({shrunken_low} a {shrunken_high})."
        ),
        "above_bound": "O que decide fica acima do limite {bound}.",
        "like_people": (
            "Está demonstrado que não fica mais de {margin} abaixo das próprias pessoas: seu tau-b "
            "com as referências que excluem uma pessoa, menos o delas, é {tau_minus_people} "
            "({tau_minus_people_low} a {tau_minus_people_high})."
        ),
        "like_people_shrunken": (
            "Está demonstrado que não fica mais de {margin} abaixo das próprias pessoas: seu tau-b "
            "com as referências que excluem uma pessoa, menos o delas, é {tau_minus_people} "
            "({tau_minus_people_low} a {tau_minus_people_high}), sem o ruído "
            "{minus_people_shrunken} ({minus_people_shrunken_low} a {minus_people_shrunken_high})."
        ),
        "bound_missing": (
            "Um intervalo que teria de ficar acima de {bound} é indefinido, e nada demonstra."
        ),
        "bound_bca": "O primeiro intervalo tem de ficar acima de {bound}.",
        "bound_shrunken": "O segundo intervalo tem de ficar acima de {bound}.",
        "bound_both": "Os dois intervalos têm de ficar acima de {bound}.",
        "people": (
            "Seu tau-b com as referências que excluem uma pessoa, menos o das próprias pessoas, é "
            "{tau_minus_people} ({tau_minus_people_low} a {tau_minus_people_high})."
        ),
        "people_shrunken": (
            "Seu tau-b com as referências que excluem uma pessoa, menos o das próprias pessoas, é "
            "{tau_minus_people} ({tau_minus_people_low} a {tau_minus_people_high}), sem o ruído "
            "{minus_people_shrunken} ({minus_people_shrunken_low} a {minus_people_shrunken_high})."
        ),
        "margin_bca": (
            "Também bastaria que o primeiro intervalo disso ficasse acima de \u2212{margin}."
        ),
        "margin_shrunken": (
            "Também bastaria que o segundo intervalo disso ficasse acima de \u2212{margin}."
        ),
        "margin_both": (
            "Também bastaria que os dois intervalos disso ficassem acima de \u2212{margin}."
        ),
        "left_out": "Pares sem nota sua, que ficam de fora dos dois lados: {n_pairs_left_out}.",
    },
}
METHODS: Mapping[Language, Mapping[str, str]] = {
    "en": {"bca": "BCa"},
    "pt": {"bca": "BCa", "percentile": "percentil", "degenerate": "degenerado"},
}
INTERVAL_NOTE: Mapping[Language, str] = {
    "en": (
        "BCa intervals of a rank correlation hold the true value more rarely than they say: "
        "the correlation moves in steps, and the noise of the queries pulls it down, in each "
        "resample once more. Mostly they lie too low, so that “not shown” may be due to that; now "
        "and then too high. Those of a difference to people lie too high where people are really "
        "better, for the noise pulls the difference to 0. The shrunken intervals take the noise "
        "out; in simulations those of tau-b and rho at 90 % held the true value about as often as "
        "they say. They suppose that the systems' true means are normally distributed."
    ),
    "pt": (
        "Os intervalos BCa de uma correlação de postos contêm o valor verdadeiro menos vezes do "
        "que dizem: a correlação anda em degraus, e o ruído das consultas a puxa para baixo, mais "
        "uma vez em cada reamostra. Em geral ficam baixos demais, e um “não demonstrado” pode vir "
        "daí; às vezes, altos demais. Os de uma diferença para as pessoas ficam altos demais onde "
        "as pessoas são de fato melhores, pois o ruído puxa a diferença para 0. Os intervalos "
        "encolhidos descontam o ruído; em simulações, os de tau-b e rho a 90 % contiveram o valor "
        "verdadeiro mais ou menos tantas vezes quanto dizem. Supõem que as médias verdadeiras dos "
        "sistemas tenham distribuição normal."
    ),
}


def _of_judges(correlations: pd.DataFrame, judges: Sequence[str]) -> Iterator[tuple[str, Row]]:
    counts = (
        (correlations["query_set"] == "common")
        & (correlations["system_set"] == "all")
        & (correlations["coefficient"] == COEFFICIENT)
    )
    chosen = correlations[counts]
    for judge in judges:
        for row in chosen[chosen["qrels"] == judge].to_dict("records"):
            yield judge, {str(name): value for name, value in row.items()}


def _row(table: pd.DataFrame, **wanted: str) -> Row:
    """Return the first row of a table that has these values; empty if there is none."""
    for column, value in wanted.items():
        table = table[table[column] == value]
    return {str(name): value for name, value in table.iloc[0].items()} if len(table) else {}


def _ends(rule: VerdictRule) -> tuple[str, str]:
    return _ends_of(rule.confidence)


def _ends_of(confidence: object) -> tuple[str, str]:
    name = "ci90" if confidence == 0.9 else "ci95"
    return f"{name}_low", f"{name}_high"


def _above(value: object, bound: float) -> bool:
    if _missing(value):
        return False
    assert isinstance(value, float)
    return round(value, COMPARED_DECIMALS) > bound


def _missing(value: object) -> bool:
    return value is None or bool(pd.isna(value))  # type: ignore[call-overload]


def _number(value: object, language: Language) -> str:
    if not isinstance(value, float) or pd.isna(value):
        return str(value)
    value = round(value, 3) + 0.0  # no minus before a zero
    text = f"{value:.3f}".rstrip("0").rstrip(".") if value == round(value, 2) else f"{value:.3f}"
    text = text.replace("-", "\u2212")
    return text.replace(".", ",") if language == "pt" else text
