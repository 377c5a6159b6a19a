"""Writes an experiment for TensorBoard. Each cell is a run; the table HParams has their metrics and parameters."""

import glob
import os
import struct

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import runs

# The ending of the files that tfexp writes.
ENDING = ".tfexp"

# The metrics in the table HParams: the ones that the report shows for each cell.
SHOWN = ("jobs", "finished", "mean_jct_s", "p95_jct_s", "mean_waiting_s", "makespan_s", "utilization",
         "gpu_utilization", "mean_bounded_slowdown", "jain_fairness", "preemptions", "cost_usd", "revocations", "final_accuracy")


def write(results, to):
    """Writes an experiment into a folder, and returns the number of cells. Each cell has a subfolder with an event
    file. Files of an earlier export of the experiment are replaced."""
    to = os.path.join(to, results.name)
    files = "events.out.tfevents.*" + ENDING
    earlier = glob.glob(os.path.join(glob.escape(to), files)) + glob.glob(os.path.join(glob.escape(to), "*", files))
    begin, cells = runs.started(results), runs.runs(results)
    numbers = _numbers(cells)
    pictures = {}
    for p in results.pictures:
        pictures.setdefault(p.get("cell"), []).append(p)
    with _File(to, begin) as f:
        f.plugin(metadata.EXPERIMENT_TAG, 0, experiment=_experiment(results, cells, numbers, begin))
        f.pictures(results, pictures.get(None, []))
    for cell, result in cells:
        with _File(os.path.join(to, cell.name), begin) as f:
            _write_cell(f, cell, result, numbers)
            f.pictures(results, pictures.get(cell.name, []))
    for path in earlier:
        os.remove(path)
        if not os.listdir(os.path.dirname(path)):
            os.rmdir(os.path.dirname(path))
    return len(cells)


def look(to):
    """The command that shows the runs."""
    return "tensorboard --logdir " + to


def _experiment(results, cells, numbers, begin):
    """The columns of the table HParams."""
    known = {name for _, result in cells for name in runs.metrics(result)}
    names = dict.fromkeys(name for cell, _ in cells for name in runs.params(cell))
    return api_pb2.Experiment(
        name=results.name, description=results.plan.get("description", ""), time_created_secs=begin,
        hparam_infos=[api_pb2.HParamInfo(name=n, type="DATA_TYPE_FLOAT64" if n in numbers else "DATA_TYPE_STRING")
                      for n in names],
        metric_infos=[api_pb2.MetricInfo(name=api_pb2.MetricName(tag=n)) for n in SHOWN if n in known])


def _numbers(cells):
    """The names of parameters that are numbers in all cells that have them."""
    names, others = set(), set()
    for cell, _ in cells:
        for name, value in runs.params(cell).items():
            names.add(name)
            try:
                float(value)
            except ValueError:
                others.add(name)
    return names - others


def _write_cell(f, cell, result, numbers):
    seconds = result.get("seconds") or 0
    start = plugin_data_pb2.SessionStartInfo(start_time_secs=f.begin, group_name=" ".join(
        [cell.workload, cell.hardware, runs.variant(cell)]))  # equal for all replicates
    for name, value in runs.params(cell).items():
        if name in numbers:
            start.hparams[name].number_value = float(value)
        else:
            start.hparams[name].string_value = value
    f.plugin(metadata.SESSION_START_INFO_TAG, 0, session_start_info=start)
    for name, points in runs.curves(cell).items():
        for t, step, value in points:
            f.add(t, step, tag=name, simple_value=value)
    for name, value in runs.metrics(result).items():
        f.add(seconds, 0, tag=name, simple_value=value)
    state = "STATUS_FAILURE" if result.get("state") == "failed" else "STATUS_SUCCESS"
    f.plugin(metadata.SESSION_END_INFO_TAG, seconds, session_end_info=plugin_data_pb2.SessionEndInfo(
        status=state, end_time_secs=f.begin + seconds))


class _File:
    """Writes the event file of a folder. begin is the start of the experiment in Unix seconds."""

    def __init__(self, folder, begin):
        self.begin = begin
        self.to = EventFileWriter(folder, max_queue_size=1000, filename_suffix=ENDING)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.to.close()

    def add(self, t, step, **value):
        self.to.add_event(Event(wall_time=self.begin + t, step=step, summary=Summary(value=[Summary.Value(**value)])))

    def plugin(self, tag, t, **content):
        """Writes a message for the plugin of hyperparameters."""
        content = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content)
        self.add(t, 0, tag=tag, metadata=metadata.create_summary_metadata(content), tensor=metadata.NULL_TENSOR)

    def pictures(self, results, drawn):
        """Writes pictures."""
        for p in drawn:
            path = runs.file(results, p.get("png") or "")
            if not path:
                continue
            with open(path, "rb") as png:
                raw = png.read()
            width, height = struct.unpack(">II", raw[16:24])
            # TensorBoard shows pictures of the same name side by side.
            tag = p["kind"] if p.get("cell") else p["name"]
            self.add(0, 0, tag=tag, image=Summary.Image(
                width=width, height=height, colorspace=4, encoded_image_string=raw))
