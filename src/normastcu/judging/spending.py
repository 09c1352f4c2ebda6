"""What has to hold before the first call of a run: the budget suffices, every key is there."""

from collections.abc import Mapping, Sequence

import pandas as pd

from normastcu.judging.cost import total
from normastcu.judging.errors import JudgingError, service_errors_as_judging
from normastcu.judging.settings import Judge
from normastcu.services.credentials import api_key


def check_budget(estimates: pd.DataFrame, budget: float | None) -> None:
    """Refuse a run whose calls may cost more than the budget, or an unknown amount.

    Parameters
    ----------
    estimates
        judge, calls, cost (the most; missing is unknown), one row a judge.
    budget
        In the currency of the prices; None is no limit.

    Raises
    ------
    JudgingError
        Naming the judges, what they may cost and the budget.

    Examples
    --------
    >>> estimates = pd.DataFrame({"judge": ["a", "b"], "calls": [10, 10], "cost": [0.6, 0.5]})
    >>> check_budget(estimates, 1.1)
    >>> check_budget(estimates, 1.0)
    Traceback (most recent call last):
    ...
    normastcu.judging.errors.JudgingError: The 20 calls that are left (a: 0.60, b: 0.50) may ...
    """
    left = estimates[estimates["calls"] > 0]
    costs = {
        str(judge): None if pd.isna(cost) else float(cost)
        for judge, cost in zip(left["judge"], left["cost"], strict=True)
    }
    cost = total(costs.values())
    if budget is None or (cost is not None and cost <= budget):
        return
    may = "an unknown amount (a model has no price)" if cost is None else f"up to {cost:,.2f}"
    by_judge = ", ".join(
        f"{judge}: {'unknown' if amount is None else f'{amount:,.2f}'}"
        for judge, amount in costs.items()
    )
    raise JudgingError(
        f"The {int(left['calls'].sum()):,} calls that are left ({by_judge}) may cost {may}, and "
        f"`judging.budget` is {budget:,.2f}. Nothing was asked. Raise the budget, state the "
        "models' prices in judges.yml, run one judge by its namespace, or judge fewer pairs."
    )


def check_keys(judges: Sequence[Judge], credentials: Mapping[str, object]) -> None:
    """Raise a JudgingError that names the entry where the key of a judge's model is missing."""
    for judge in judges:
        if judge.model is not None and judge.model.kind == "openai":
            with service_errors_as_judging():
                api_key(judge.model, credentials)
