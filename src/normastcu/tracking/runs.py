"""One MLflow run for each judge, written by run id: nothing here uses or changes an active run."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mlflow.entities import Metric, Param, RunStatus, RunTag
from mlflow.tracking import MlflowClient
from mlflow.utils.mlflow_tags import MLFLOW_PARENT_RUN_ID
from mlflow.utils.validation import (
    MAX_METRICS_PER_BATCH,
    MAX_PARAM_VAL_LENGTH,
    MAX_PARAMS_TAGS_PER_BATCH,
    MAX_TAG_VAL_LENGTH,
)

from normastcu.collection.chunks import chunks
from normastcu.tracking.records import JudgeRecord
from normastcu.tracking.settings import shortened

KIND = "normastcu.kind"
JUDGE = "judge"
COMPARISON = "comparison"
IDENTITY = "normastcu.hash"
SAME_AS = "normastcu.same_as"
ABANDONED_AFTER_S = 3600
"""A judge's run is written in seconds: one open for an hour was left by a killed process."""


@dataclass(frozen=True)
class Parent:
    """The run of the comparison, and the experiment that it is in."""

    run_id: str
    experiment_id: str


def write_judge(
    client: MlflowClient, parent: Parent, record: JudgeRecord, files: Callable[[Path], None]
) -> str:
    """Write a finished run for a judge, and return its id.

    Where an earlier finished run has the same identity, the tag ``normastcu.same_as`` names the
    first one.

    Parameters
    ----------
    client
        Of the tracking store.
    parent
        The run that becomes its parent.
    record
        What is written.
    files
        Makes the run's artifacts.

    Raises
    ------
    mlflow.exceptions.MlflowException, OSError
        The store can't be written; the judge's run is then marked as failed, not left open.
    """
    tags = {
        **record.tags,
        KIND: JUDGE,
        IDENTITY: record.identity,
        MLFLOW_PARENT_RUN_ID: parent.run_id,
    }
    if same := find_same(client, parent.experiment_id, record.identity):
        tags[SAME_AS] = same
    with _child(client, parent.experiment_id, record.name, tags) as run_id:
        _log(client, run_id, record)
        with TemporaryDirectory() as folder:
            files(Path(folder))
            client.log_artifacts(run_id, folder)
    return run_id


def tag_run(client: MlflowClient, run_id: str, tags: Mapping[str, str]) -> None:
    """Add tags to a run."""
    for some in chunks(_cut(tags, MAX_TAG_VAL_LENGTH).items(), MAX_PARAMS_TAGS_PER_BATCH):
        client.log_batch(run_id, tags=[RunTag(key, value) for key, value in some])


def find_same(client: MlflowClient, experiment_id: str, identity: str) -> str | None:
    """Return the first finished run of an experiment that has an identity."""
    found = client.search_runs(
        [experiment_id],
        f"tags.`{IDENTITY}` = '{identity}' and attributes.status = 'FINISHED'",
        max_results=1,
        order_by=["attributes.start_time ASC"],
    )
    return found[0].info.run_id if found else None


def end_abandoned(client: MlflowClient, experiment_id: str) -> None:
    """Mark the runs of judges that a killed process left open, so that none is open for ever."""
    latest = int((time.time() - ABANDONED_AFTER_S) * 1000)
    found = client.search_runs(
        [experiment_id],
        f"tags.`{KIND}` = '{JUDGE}' and attributes.status = 'RUNNING' "
        f"and attributes.start_time < {latest}",
    )
    for run in found:
        client.set_terminated(run.info.run_id, RunStatus.to_string(RunStatus.KILLED))


@contextlib.contextmanager
def _child(
    client: MlflowClient, experiment_id: str, name: str, tags: Mapping[str, str]
) -> Iterator[str]:
    """Yield the id of a new run, which ends as the block does: finished, failed or killed."""
    run = client.create_run(experiment_id, tags=_cut(tags, MAX_TAG_VAL_LENGTH), run_name=name)
    try:
        yield run.info.run_id
    except BaseException as error:
        status = RunStatus.FAILED if isinstance(error, Exception) else RunStatus.KILLED
        # A store that could not be written may not take the end either: the first error counts.
        with contextlib.suppress(Exception):
            client.set_terminated(run.info.run_id, RunStatus.to_string(status))
        raise
    client.set_terminated(run.info.run_id, RunStatus.to_string(RunStatus.FINISHED))


def _log(client: MlflowClient, run_id: str, record: JudgeRecord) -> None:
    now = int(time.time() * 1000)
    params = _cut(record.params, MAX_PARAM_VAL_LENGTH)
    for some in chunks(params.items(), MAX_PARAMS_TAGS_PER_BATCH):
        client.log_batch(run_id, params=[Param(key, value) for key, value in some])
    for numbers in chunks(record.metrics.items(), MAX_METRICS_PER_BATCH):
        client.log_batch(
            run_id, metrics=[Metric(key, value, now, step=0) for key, value in numbers]
        )


def _cut(texts: Mapping[str, str], limit: int) -> dict[str, str]:
    return {name: shortened(text, limit) for name, text in texts.items()}
