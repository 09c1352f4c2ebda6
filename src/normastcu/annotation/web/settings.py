"""Settings of the assessment screen's server."""

from pydantic import Field

from normastcu.annotation.settings import Language, Languages, LanguageTag
from normastcu.collection.settings import Settings

__all__ = ["Language", "ServerSettings"]


class ServerSettings(Settings):
    """How the pages are served.

    Attributes
    ----------
    signing_key
        Signs sessions and tokens; at least 32 random bytes. A new key ends every session.
    secure_cookies
        Whether the pages come over TLS: the session's cookie is then never sent without it.
    languages
        The languages to choose from; the first is shown to a browser that asks for neither.
    content_language
        The language of queries and documents, for screen readers (BCP 47).
    instructions
        The instructions by language, as plain text with an empty line between paragraphs;
        where a language is absent, the page that comes with the project.

    Examples
    --------
    >>> ServerSettings(signing_key=bytes(32)).languages
    ('pt', 'en')
    """

    signing_key: bytes = Field(min_length=32, repr=False)
    secure_cookies: bool = False
    languages: Languages = ("pt", "en")
    content_language: LanguageTag = "pt-BR"
    instructions: dict[Language, str] = Field(default={})
