"""Tables 9 and 13 of the paper, from the long tables."""

import pandas as pd

from normastcu.reporting.system_tables import correlation_table, system_table


def measures_of(rows):
    columns = ["qrels", "system", "measure", "query_set", "n_queries", "value", "rank"]
    types = {"n_queries": "Int64", "value": "Float64", "rank": "Int64"}
    return pd.DataFrame(rows, columns=columns).astype(types)


def test_measures_stand_beside_their_ranks_under_the_reference():
    table = system_table(
        measures_of(
            [
                ("reference", "S_1", "P@10", "per_qrels", 46, 0.5, 2),
                ("reference", "S_2", "P@10", "per_qrels", 46, 0.6, 1),
                ("reference", "S_1", "Judged@10", "per_qrels", 46, 0.9, 1),
                ("reference", "S_2", "Judged@10", "per_qrels", 46, 0.8, 2),
                ("reference", "S_1", "P@10", "common", 35, 0.1, 9),
                ("A_1", "S_1", "P@10", "per_qrels", 44, 0.2, 9),
            ]
        ),
        {"S_2": "dense", "S_1": "bm25"},
    )

    assert table.to_dict("list") == {
        "system": ["S_2", "S_1"],
        "family": ["dense", "bm25"],
        "n_queries": [46, 46],
        "P@10": [0.6, 0.5],
        "P@10_rank": [1, 2],
        "Judged@10": [0.8, 0.9],
    }


def test_tau_and_rho_stand_beside_each_other():
    shared = {"reference": "reference", "n_systems": 15, "n_queries": 44}
    rows = [
        shared
        | {
            "qrels": qrels,
            "measure": measure,
            "query_set": query_set,
            "system_set": system_set,
            "coefficient": coefficient,
            "value": value,
        }
        for qrels, measure, coefficient, value, query_set, system_set in (
            ("B", "MRR", "tau_b", 0.1, "per_qrels", "all"),
            ("B", "MRR", "rho", 0.2, "per_qrels", "all"),
            ("A", "MRR", "tau_b", 0.3, "per_qrels", "all"),
            ("A", "MRR", "rho", None, "per_qrels", "all"),
            ("A", "MRR", "rbo", 0.9, "per_qrels", "all"),
            ("A", "MRR", "tau_b", 0.9, "common", "all"),
            ("A", "MRR", "tau_b", 0.9, "per_qrels", "one_per_family"),
        )
    ]

    table = correlation_table(pd.DataFrame(rows).astype({"value": "Float64"}))

    assert table["qrels"].tolist() == ["B", "A"]
    assert table["MRR_tau_b"].tolist() == [0.1, 0.3]
    assert table["MRR_rho"].isna().tolist() == [False, True]
    assert list(table.columns) == [
        *["qrels", "reference", "query_set", "n_systems", "n_queries", "MRR_tau_b", "MRR_rho"]
    ]
