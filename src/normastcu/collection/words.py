"""The words of a text, for what compares texts without any model."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_PORTUGUESE = """
a ao aos aquela aquelas aquele aqueles aquilo as ate com como da das de dela delas dele
deles do dos e ela elas ele eles em entre era essa essas esse esses esta estas este estes
eu foi for foram ha isso isto ja la lhe lhes mais mas me mesmo meu minha na nas nem no
nos nossa nosso num numa o os ou para pela pelas pelo pelos por porque qual quais quando
quanto que quem se sem ser seu seus so sob sobre sua suas tambem te tem tinha toda todas
todo todos tu um uma umas uns voce
"""
_ENGLISH = """
a about all an and any are as at be been but by can could did do does for from had has
have he her his how i if in into is it its me more my no not of on or our she should so
some than that the their them then there these they this those to was we were what when
where which who whom whose why will with would you your
"""
STOPWORDS = {
    "pt": frozenset(_PORTUGUESE.split()),
    "en": frozenset(_ENGLISH.split()),
    "none": frozenset[str](),
}
"""Language to the words that carry no subject, as `words` writes them."""


def words(text: str) -> list[str]:
    """Return the words of a text in their order, in lower case and without accents.

    Examples
    --------
    >>> words("Art. 3º: Diárias!")
    ['art', '3o', 'diarias']
    """
    plain = unicodedata.normalize("NFKD", text.lower())
    letters = "".join(character for character in plain if not unicodedata.combining(character))
    return _WORD.findall(letters)
