"""Prompts: text files with a small header, and the messages that they make for a pair.

A file has three parts: a header in YAML between two lines of ``---``, the text of the system
message under the line ``# system``, that of the user message under ``# user``, and the reminder
after a reply that can't be read under ``# reminder``. Fields in double braces are filled in:

==================  ===========================================  =======================
field               what                                         where
==================  ===========================================  =======================
``{{grades}}``      the grades with their names and meanings     system
``{{values}}``      the grades as numbers, with commas           system, reminder
``{{format}}``      the reply as a JSON object                   system, user, reminder
``{{query}}``       the query                                    user, once
``{{document}}``    the fenced document                          user, once, at the end
==================  ===========================================  =======================
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from normastcu.collection.settings import Grade, GradeScale, Settings
from normastcu.judging.content import FencedDocument, unfenced
from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Message

FieldKind = Literal["grade", "text"]

_PARTS = re.compile(
    r"---\n(?P<header>.*?)\n---\n\s*# system\n(?P<system>.*?)\n# user\n(?P<user>.*?)"
    r"\n# reminder\n(?P<reminder>.*)",
    re.DOTALL,
)
_FIELD = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_ALLOWED = {
    "system": {"grades", "values", "format"},
    "user": {"format", "query", "document"},
    "reminder": {"values", "format"},
}


class KnownGrade(Settings):
    """How a prompt calls a grade, what the collection may call it, and what it means."""

    name: str = Field(min_length=1)
    also_called: tuple[str, ...] = ()
    meaning: str = Field(min_length=1)


class OtherGrades(Settings):
    """What a prompt says about the grades of a scale whose names it does not know."""

    lowest: str = Field(min_length=1)
    between: str = Field(min_length=1)
    highest: str = Field(min_length=1)


class PromptHeader(Settings):
    """The header of a prompt file.

    Attributes
    ----------
    id
        Name of the prompt, the same in every language.
    language
        Language of the text, such as ``pt``.
    reply_fields
        The fields of the reply in their order, and whether each holds a grade or a text.
    grade_field, rationale_field
        The field that counts as the judge's grade, and the one of the reason, if there is one.
    grades
        Grades that the text can explain. They are used for a scale all of whose names are listed
        here (case forgiven).
    other_grades
        What is said about the grades of any other scale.
    """

    id: str = Field(pattern=r"^\S+$")
    language: str = Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]+)*$")
    reply_fields: dict[str, FieldKind] = Field(min_length=1)
    grade_field: str = "score"
    rationale_field: str | None = None
    grades: tuple[KnownGrade, ...] = ()
    other_grades: OtherGrades

    @field_validator("reply_fields")
    @classmethod
    def _told_apart(cls, value: dict[str, FieldKind]) -> dict[str, FieldKind]:
        if len({name.strip().lower() for name in value}) < len(value):
            raise ValueError("the fields must differ in more than case and blanks")
        return value

    @model_validator(mode="after")
    def _declared(self) -> Self:
        if self.reply_fields.get(self.grade_field) != "grade":
            raise ValueError(
                f"grade_field {self.grade_field!r} must be a reply field of kind grade"
            )
        named = self.rationale_field
        if named is not None and self.reply_fields.get(named) != "text":
            raise ValueError(f"rationale_field {named!r} must be a reply field of kind text")
        return self


@dataclass(frozen=True)
class Prompt:
    """A prompt as read from its file.

    Attributes
    ----------
    header
        See `PromptHeader`; its values are also attributes of the prompt.
    system, user, reminder
        Texts with fields to fill in.
    sha256
        Of the whole file, in hexadecimal.
    """

    header: PromptHeader
    system: str
    user: str
    reminder: str
    sha256: str

    @property
    def id(self) -> str:
        """Return the prompt's name."""
        return self.header.id

    @property
    def language(self) -> str:
        """Return the language of the text."""
        return self.header.language

    @property
    def reply_fields(self) -> Mapping[str, FieldKind]:
        """Return the fields of the reply in their order."""
        return self.header.reply_fields

    @property
    def grade_field(self) -> str:
        """Return the field that counts as the grade."""
        return self.header.grade_field

    @property
    def rationale_field(self) -> str | None:
        """Return the field of the reason, None where none is asked for."""
        return self.header.rationale_field


def read_prompt(text: str, name: str) -> Prompt:
    """Read a prompt file.

    Parameters
    ----------
    text
        What the file holds.
    name
        The file's name, for messages.

    Raises
    ------
    JudgingError
        Naming the file and what is wrong in it: a missing part, a wrong header, a field that
        does not exist or is missing.
    """
    parts = _PARTS.fullmatch(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    if parts is None:
        raise JudgingError(
            f"{name}: a prompt needs a header between two lines of `---` at its beginning, then "
            "the lines `# system`, `# user` and `# reminder`, each with its text below."
        )
    texts = {part: parts[part].strip() for part in _ALLOWED}
    for part, body in texts.items():
        _check_fields(body, part, name)
    return Prompt(
        header=_read_header(parts["header"], name),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        **texts,
    )


class Renderer:
    """Makes the messages of a prompt for the pairs of a collection.

    Parameters
    ----------
    prompt
        The prompt.
    scale
        The grades of the collection and their names.
    """

    def __init__(self, prompt: Prompt, scale: GradeScale) -> None:
        self._shared = _shared(prompt, scale)
        self._user = prompt.user
        self._system = _fill(prompt.system, self._shared)

    def messages(self, query: str, document: FencedDocument) -> list[Message]:
        """Make the messages that ask for the grade of a pair; see `render`."""
        own = {"query": unfenced(query), "document": document.block}
        return [
            Message(role="system", content=self._system),
            Message(role="user", content=_fill(self._user, self._shared | own)),
        ]


def render(
    prompt: Prompt, scale: GradeScale, query: str, document: FencedDocument
) -> list[Message]:
    """Make the messages that ask for the grade of a pair.

    Parameters
    ----------
    prompt
        The prompt.
    scale
        The grades of the collection and their names.
    query
        The query's text; what looks like a document's delimiter in it is made harmless.
    document
        The document, cut and fenced.

    Returns
    -------
    list of Message
        A system message, the same for every pair of the collection, and a user message, in which
        the document's delimiters stand exactly once each.
    """
    return Renderer(prompt, scale).messages(query, document)


def remind(messages: Sequence[Message], prompt: Prompt, scale: GradeScale) -> list[Message]:
    """Repeat at the end of the messages how the reply must look.

    The reply that could not be read is not sent back: it may be long, and models tend to go on
    with what they see.
    """
    reminder = _fill(prompt.reminder, _shared(prompt, scale))
    last = messages[-1]
    asked = Message(role=last["role"], content=f"{last['content']}\n\n{reminder}")
    return [*messages[:-1], asked]


def reply_schema(prompt: Prompt, scale: GradeScale) -> dict[str, Any]:
    """Return the JSON schema of the reply, for services that can enforce it.

    Every field is required and no other is allowed; a grade is one of the scale's integers.
    """
    kinds = {"grade": {"type": "integer", "enum": list(scale.values)}, "text": {"type": "string"}}
    return {
        "type": "object",
        "properties": {name: kinds[kind] for name, kind in prompt.reply_fields.items()},
        "required": list(prompt.reply_fields),
        "additionalProperties": False,
    }


def response_format(
    structured_output: bool | str, schema: Mapping[str, object]
) -> dict[str, object]:
    """Return how a service is asked to enforce a schema.

    Parameters
    ----------
    structured_output
        True: as OpenAI writes it; ``json_object``: as servers do that know nothing else.
    schema
        The JSON schema of the reply.
    """
    if structured_output == "json_object":
        return {"type": "json_object", "schema": dict(schema)}
    stated = {"name": "reply", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": stated}


def _read_header(text: str, name: str) -> PromptHeader:
    try:
        # Without types: the language `no` and a grade called `yes` are texts.
        return PromptHeader.model_validate(yaml.load(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        raise JudgingError(f"{name}: the header is not valid YAML: {error}") from error
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors(include_url=False)
        ]
        raise JudgingError(f"{name}: the header: {'; '.join(problems)}.") from error


def _check_fields(body: str, part: str, name: str) -> None:
    used = _FIELD.findall(body)
    if unknown := sorted(set(used) - _ALLOWED[part]):
        raise JudgingError(
            f"{name}: `{{{{{unknown[0]}}}}}` can't be filled in under `# {part}`. Known there: "
            f"{', '.join(sorted(_ALLOWED[part]))}."
        )
    if part == "user" and (used.count("query"), used.count("document")) != (1, 1):
        raise JudgingError(f"{name}: `# user` must hold {{{{query}}}} and {{{{document}}}} once.")


def _fill(text: str, values: Mapping[str, str]) -> str:
    """Fill in all fields at once: what is filled in is not looked at again."""
    return _FIELD.sub(lambda field: values[field[1]], text)


def _shared(prompt: Prompt, scale: GradeScale) -> dict[str, str]:
    values = [str(grade) for grade in scale.values]
    return {
        "grades": _grades(prompt.header, scale),
        "values": ", ".join(values),
        "format": _format(prompt, " | ".join(values)),
    }


def _grades(header: PromptHeader, scale: GradeScale) -> str:
    """Explain the grades, the highest first, one a line."""
    known = {
        name.lower(): grade for grade in header.grades for name in (grade.name, *grade.also_called)
    }
    explained = [known.get(grade.name.lower()) for grade in scale.grades]
    lines = []
    for grade, own in zip(scale.grades, explained, strict=True):
        if own is not None and all(explained):
            lines.append(f"- {grade.grade} ({own.name}): {own.meaning}")
        else:
            meaning = _other_meaning(grade, scale, header.other_grades)
            lines.append(f"- {grade.grade} ({grade.name}): {meaning}")
    return "\n".join(reversed(lines))


def _other_meaning(grade: Grade, scale: GradeScale, other: OtherGrades) -> str:
    if grade == scale.grades[0]:
        return other.lowest
    return other.highest if grade == scale.grades[-1] else other.between


def _format(prompt: Prompt, values: str) -> str:
    """Write the reply with a placeholder for every value; copied as it is, it's no grade."""
    holders = {"grade": values, "text": '"..."'}
    members = [f'"{name}": {holders[kind]}' for name, kind in prompt.reply_fields.items()]
    return "{" + ", ".join(members) + "}"
