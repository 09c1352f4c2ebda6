"""After a run that compared judges, MLflow holds one finished run for each of them."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline

from normastcu.configuration import RESOLVERS
from normastcu.environment import active_judges
from normastcu.tracking.comparison import has_compared, read_comparison
from normastcu.tracking.hashes import UNKNOWN, git_commit

logger = logging.getLogger(__name__)

INHERITED = ("mlflow.user", "mlflow.source.name", "mlflow.source.type")
"""Tags of the open run by which MLflow says who ran what."""


class TrackingHooks:
    """Tells MLflow of each judge, below the run that kedro-mlflow has opened.

    Nothing is written where kedro-mlflow is switched off (``DISABLE_HOOKS_FOR_PLUGINS``), does not
    track the pipelines (``disable_tracking`` in mlflow.yml), or has no run open. When MLflow
    fails there is a warning: the results are on the disk by then, and a run never ends because of
    it. Nothing is written of a run that fails, since its end is not reached.
    """

    def __init__(self) -> None:
        self._config: Any = None
        self._project = Path()

    @hook_impl(trylast=True)
    def after_context_created(self, context: KedroContext) -> None:
        """Note what kedro-mlflow has put into the context: nothing where it is switched off."""
        self._config = getattr(context, "mlflow", None)
        self._project = Path(context.project_path)

    @hook_impl(tryfirst=True)
    def after_pipeline_run(
        self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog
    ) -> None:
        """Write the runs, before kedro-mlflow closes its own."""
        if self._config is None or self._is_off(run_params) or not has_compared(pipeline):
            return
        try:
            self._track(pipeline, catalog)
        except Exception as error:
            logger.warning(
                "MLflow does not hold all judges of this run (%s: %s). The results of the run are "
                "complete: see data/08_reporting. To have the judges in MLflow too, mend that and "
                "run again: kedro run --pipelines meta_evaluation (with the same --env).",
                type(error).__name__,
                str(error).partition("\n")[0],
            )

    def _is_off(self, run_params: dict[str, Any]) -> bool:
        named = run_params.get("pipeline_names") or [run_params.get("pipeline_name")]
        names = {name or "__default__" for name in named}
        return names <= set(self._config.tracking.disable_tracking.pipelines)

    def _track(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        # MLflow takes seconds to import, and only here is it needed.
        import mlflow

        from normastcu.tracking.runs import (
            COMPARISON,
            KIND,
            Parent,
            end_abandoned,
            tag_run,
            write_judge,
        )

        active = mlflow.active_run()
        if active is None:
            return
        client = mlflow.MlflowClient()
        parent = Parent(active.info.run_id, active.info.experiment_id)
        compared = read_comparison(pipeline, catalog, active_judges(RESOLVERS))
        tags = self._revision() | compared.tags()
        tag_run(client, parent.run_id, tags | {KIND: COMPARISON})
        tags |= {name: active.data.tags[name] for name in INHERITED if name in active.data.tags}
        end_abandoned(client, parent.experiment_id)
        for judge in compared.judges:
            files = partial(compared.write_files, judge)
            write_judge(client, parent, compared.record(judge, tags), files)

    def _revision(self) -> dict[str, str]:
        """Return the commit: ours with a mark where files differ, and MLflow's own without one."""
        commit = git_commit(self._project)
        tags = {"normastcu.git_commit": commit}
        if commit != UNKNOWN:
            tags["mlflow.source.git.commit"] = commit.removesuffix("-dirty")
        return tags
