"""Kedro's project settings: https://docs.kedro.org/en/stable/configure/configuration_basics/."""

from normastcu.configuration import RESOLVERS
from normastcu.hooks import InputHooks, ParameterHooks, SummaryHooks

HOOKS = (ParameterHooks(), InputHooks(), SummaryHooks())

CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    "custom_resolvers": RESOLVERS,
    # Parameters of an environment change single keys; `source` in globals.yml replaces the whole.
    "merge_strategy": {"parameters": "soft"},
}
