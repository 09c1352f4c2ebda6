"""Qrels as TREC files."""

from normastcu.collection.qrels import SUFFIX, read_qrels, write_qrels
from normastcu.datasets.trec_folder import TrecFolderDataset


class TrecQrelsDataset(TrecFolderDataset):
    """A table of several qrels as a folder of TREC files, ``<qrels>.qrels`` each."""

    column = "qrels"
    suffix = SUFFIX
    read = staticmethod(read_qrels)
    write = staticmethod(write_qrels)
