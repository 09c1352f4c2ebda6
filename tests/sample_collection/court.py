"""The invented court: its name, its units, who signs for them, and dates in words."""

from dataclasses import dataclass
from datetime import date, timedelta

NAME = "Tribunal de Contas do Estado de Ibirapema"
ACRONYM = "TCE-IB"
COLLEGIATE = "Plenário"
MONTHS = (
    "janeiro",
    "fevereiro",
    "março",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
)


@dataclass(frozen=True)
class Signer:
    """A person who signs acts: the last year of the term, the name, and whether a woman."""

    until: int
    name: str
    is_woman: bool


PRESIDENTS = (
    Signer(2010, "Anselmo Tavares Brandão", False),
    Signer(2012, "Lourdes Quintela Amorim", True),
    Signer(2014, "Otávio Meireles Pontes", False),
    Signer(2016, "Helena Vasconcelos Prado", True),
    Signer(2018, "Raimundo Sá Carvalhal", False),
    Signer(2020, "Beatriz Novais Fontoura", True),
    Signer(2022, "Cássio Ribeiro Damasceno", False),
    Signer(9999, "Iracema Duarte Pessoa", True),
)

# unit: office of a man, office of a woman, basis of the competence, who has held the office
UNITS: dict[str, tuple[str, str, str, tuple[Signer, ...]]] = {
    COLLEGIATE: ("Presidente", "Presidente", "", PRESIDENTS),
    "Presidência": (
        "Presidente",
        "Presidente",
        "no uso das atribuições que lhe conferem a Lei Orgânica e o Regimento Interno",
        PRESIDENTS,
    ),
    "Secretaria-Geral de Administração": (
        "Secretário-Geral de Administração",
        "Secretária-Geral de Administração",
        "no uso da competência que lhe foi delegada pela Presidência",
        (
            Signer(2017, "Norberto Alencar Vilhena", False),
            Signer(9999, "Sílvia Moura Castanho", True),
        ),
    ),
    "Secretaria-Geral de Controle Externo": (
        "Secretário-Geral de Controle Externo",
        "Secretária-Geral de Controle Externo",
        "no uso de suas atribuições regulamentares",
        (Signer(2018, "Marta Leal Sampaio", True), Signer(9999, "Danilo Freire Goulart", False)),
    ),
    "Secretaria de Gestão de Pessoas": (
        "Secretário de Gestão de Pessoas",
        "Secretária de Gestão de Pessoas",
        "no uso da competência que lhe foi subdelegada",
        (Signer(9999, "Álvaro Nóbrega Lins", False),),
    ),
    "Secretaria de Tecnologia da Informação": (
        "Secretário de Tecnologia da Informação",
        "Secretária de Tecnologia da Informação",
        "no uso de suas atribuições regulamentares",
        (Signer(9999, "Renata Cordeiro Bastos", True),),
    ),
    "Escola de Contas": (
        "Diretor da Escola de Contas",
        "Diretora da Escola de Contas",
        "no uso de suas atribuições regulamentares",
        (Signer(9999, "Júlia Peçanha Rebouças", True),),
    ),
    "Corregedoria": (
        "Conselheiro-Corregedor",
        "Conselheira-Corregedora",
        "no uso das atribuições que lhe confere o Regimento Interno",
        (
            Signer(2018, "Lourdes Quintela Amorim", True),
            Signer(9999, "Otávio Meireles Pontes", False),
        ),
    ),
}


def signature(unit: str, year: int) -> tuple[str, str]:
    """Return the name and the office of who signs for a unit in a year."""
    man, woman, _, signers = UNITS[unit]
    signer = next(one for one in signers if year <= one.until)
    return signer.name, woman if signer.is_woman else man


def preamble(unit: str, year: int) -> str:
    """Return the opening words of an act, up to the comma before what follows."""
    if unit == COLLEGIATE:
        authority = f"O {NAME.upper()}"
        return f"{authority}, no uso de suas atribuições constitucionais, legais e regimentais"
    man, woman, basis, signers = UNITS[unit]
    is_woman = next(one for one in signers if year <= one.until).is_woman
    office = f"A {woman.upper()}" if is_woman else f"O {man.upper()}"
    return f"{office} DO {NAME.upper()}, {basis}"


def in_words(day: date) -> str:
    """Return a date as acts write it.

    Examples
    --------
    >>> in_words(date(2019, 3, 1))
    '1º de março de 2019'
    """
    return f"{day.day}{'º' if day.day == 1 else ''} de {MONTHS[day.month - 1]} de {day.year}"


def parse_date(text: str) -> date:
    """Read day/month/year."""
    day, month, year = (int(part) for part in text.split("/"))
    return date(year, month, day)


def session_day(day: date) -> date:
    """Return the Wednesday of the week: the collegiate body's acts bear the day of its session."""
    return day + timedelta(days=2 - day.weekday())


def working_day(day: date) -> date:
    """Return the day itself, or the Monday after a weekend."""
    return day + timedelta(days=7 - day.weekday()) if day.weekday() > 4 else day
