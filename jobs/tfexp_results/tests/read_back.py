"""Reads the export of an experiment that tfexp wrote (results/resultstest) with TensorBoard and MLflow, and checks it."""

import os
import sys
from pathlib import Path

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # newer versions refuse file stores without it

from mlflow.tracking import MlflowClient
from tensorboard.backend.event_processing import data_provider, event_accumulator, plugin_event_multiplexer
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

CELLS, VARIANTS = 10, 2


def check(got, want):
    if got != want:
        sys.exit(f"got {got!r}, want {want!r}")


def tensorboard(folder):
    run = event_accumulator.EventAccumulator(f"{folder}/mixed-machine-fcfs-r1")
    run.Reload()
    check(len(run.Scalars("mean_jct_s")), 1)

    runs = plugin_event_multiplexer.EventMultiplexer()
    runs.AddRunsFromDirectory(folder)
    runs.Reload()
    context = backend_context.Context(
        TBContext(logdir=folder, data_provider=data_provider.MultiplexerDataProvider(runs, folder)))
    request = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=100, aggregation_type=api_pb2.AGGREGATION_AVG)
    request.allowed_statuses.extend([api_pb2.STATUS_SUCCESS])
    groups = list_session_groups.Handler(RequestContext(), context, "", request).run().session_groups
    check(len(groups), VARIANTS)
    check(sum(len(g.sessions) for g in groups), CELLS)
    check(sorted(g.hparams["policy"].string_value for g in groups), ["fcfs", "rr"])
    for group in groups:
        mean = sum(v.value for s in group.sessions for v in s.metric_values if v.name.tag == "mean_jct_s") / len(group.sessions)
        shown = [v.value for v in group.metric_values if v.name.tag == "mean_jct_s"]
        check([round(v, 4) for v in shown], [round(mean, 4)])


def mlflow(folder):
    client = MlflowClient(Path(folder).as_uri())
    experiment = client.get_experiment_by_name("fcfs_vs_rr")
    runs = client.search_runs([experiment.experiment_id], max_results=1000)
    parents = [r for r in runs if "mlflow.parentRunId" not in r.data.tags]
    check((len(runs), len(parents)), (CELLS + 1, 1))
    check("metrics.csv" in [f.path for f in client.list_artifacts(parents[0].info.run_id)], True)
    found = client.search_runs([experiment.experiment_id], "params.policy = 'fcfs' and params.replicate = '1'")
    check([r.info.run_name for r in found], ["mixed-machine-fcfs-r1"])
    run = found[0]
    check((run.info.status, run.data.tags["mlflow.parentRunId"]), ("FINISHED", parents[0].info.run_id))
    check(run.data.metrics["mean_jct_s"] > 0, True)
    check(len(client.get_metric_history(run.info.run_id, "over time/cores in use")) > 2, True)


tensorboard(sys.argv[1])
mlflow(sys.argv[2])
