"""python3 -m tfexp_results: writes the cells of results as runs of an experiment tracker."""

import argparse
import importlib
import os
import sys

from . import read_all

# By format: the package with the library, the title, the default place, and a description of possible places.
_FORMATS = {
    "mlflow": ("mlflow", "MLflow", os.environ.get("MLFLOW_TRACKING_URI") or "mlruns",
               "a folder, or the URI of a tracking server or database; by default $MLFLOW_TRACKING_URI, or mlruns"),
    "tensorboard": ("tensorboard", "TensorBoard", "tensorboard", "a folder; by default tensorboard"),
}


def main(argv=None):
    """Returns the exit status: 0 for success, 1 if files cannot be read or written, 2 if there are no results, 6 if the
    library of the format is missing."""
    parser = argparse.ArgumentParser(prog="python3 -m tfexp_results", description=__doc__.partition(": ")[2])
    formats = parser.add_subparsers(dest="format", metavar="FORMAT", required=True)
    for name, (package, title, default, places) in _FORMATS.items():
        text = "write the cells as runs of %s, in place of those that were written before" % title
        f = formats.add_parser(name, help=text, description=text + "; needs the package " + package)
        f.add_argument("results", nargs="?", default="results", metavar="RESULTS",
                       help="the folder of an experiment, or one with several; by default results")
        f.add_argument("--to", default=default, metavar="WHERE", help=places.replace("%", "%%"))
    args = parser.parse_args(argv)
    package = _FORMATS[args.format][0]
    try:
        found = read_all(args.results)
    except FileNotFoundError as e:
        return _fail(2, e)
    except (OSError, ValueError) as e:
        return _fail(1, e)
    try:
        tracker = importlib.import_module(".to_" + args.format, __package__)
    except ImportError as e:
        return _fail(6, "%s is not installed for %s (%s): %s -m pip install %s" % (
            _FORMATS[args.format][1], sys.executable, e, sys.executable, package))
    for name, results in found.items():
        try:
            n = tracker.write(results, args.to)
        except Exception as e:  # also errors of the library, which have no common class
            return _fail(1, "export %s: %s: %s" % (name, type(e).__name__, e))
        print("%s: %d run%s in %s" % (name, n, "" if n == 1 else "s", args.to))
    print("to look at it: " + tracker.look(args.to))
    return 0


def _fail(status, error):
    print("tfexp_results: %s" % error, file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
