"""Roman numerals."""

_ROMAN = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def roman(number: int) -> str:
    """Return a roman numeral below forty.

    Examples
    --------
    >>> [roman(n) for n in (4, 9, 14)]
    ['IV', 'IX', 'XIV']
    """
    numeral = ""
    for value, letters in _ROMAN:
        while number >= value:
            numeral, number = numeral + letters, number - value
    return numeral
