"""Kedro's project settings: https://docs.kedro.org/en/stable/configure/configuration_basics/."""

from normastcu.configuration import DEFAULT_ENVIRONMENT, RESOLVERS
from normastcu.environment import CONFIG_PATTERNS, MERGE_STRATEGY
from normastcu.hooks import InputHooks, JudgingHooks, ParameterHooks, SpendingHooks, SummaryHooks
from normastcu.tracking.hooks import TrackingHooks

HOOKS = (
    ParameterHooks(),
    InputHooks(),
    SpendingHooks(),
    SummaryHooks(),
    TrackingHooks(),
    JudgingHooks(),
)

CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": DEFAULT_ENVIRONMENT,
    "config_patterns": CONFIG_PATTERNS,
    "custom_resolvers": RESOLVERS,
    # An environment changes single keys; only `source` in globals.yml replaces the whole.
    "merge_strategy": MERGE_STRATEGY,
}
