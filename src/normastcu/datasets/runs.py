"""Runs as TREC files."""

from pathlib import Path

import pandas as pd

from normastcu.collection.run_files import SUFFIX, read_run, write_run
from normastcu.collection.sources import local_file
from normastcu.datasets.trec_folder import TrecFolderDataset


def read_system(path: Path) -> pd.DataFrame:
    """Read the run of the system that the file is named after."""
    return read_run(local_file(path), system=path.name.removesuffix(SUFFIX)).table


class TrecRunsDataset(TrecFolderDataset):
    """A table of the runs of several systems as a folder of TREC files, ``<system>.run`` each."""

    column = "system"
    suffix = SUFFIX
    read = staticmethod(read_system)
    write = staticmethod(write_run)
