package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// tally is a trace format that only this test registers. A line has the name, class, arrival, cores, GPUs and run time
// of a job.
var tally = &formats.Format{
	Name: "tally", Endings: []string{".tally"}, Holds: formats.RunTimes | formats.GPUs, NeedsRunTimes: true,
	Doc: "A line is `<name> <class> <arrival s> <cores> <GPUs> <run time s>`.",
	Args: []schema.Arg{formats.UnitArg, {
		Name: "classes", Type: schema.Strings, Doc: "The classes of jobs that are taken.", DefaultDoc: "all",
		Example: `["train"]`,
	}},
	Reader: func(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
		var b logs.Builder
		classes := formats.Option[[]string](o, "classes", nil)
		skipped, err := textfile.EachLine(file, r, o.Lenient, func(number int, line string) error {
			j := scheduler.Job{Deadline: scheduler.Never, Priority: -1}
			var arrival, run float64
			if _, err := fmt.Sscan(line, &j.Name, &j.Class, &arrival, &j.Threads, &j.GPUs, &run); err != nil {
				return fmt.Errorf("not a line of a tally: %w", err)
			}
			if classes != nil && !slices.Contains(classes, j.Class) {
				return nil
			}
			unit := formats.Option(o, "unit", time.Second)
			j.Arrival = time.Duration(arrival * float64(unit))
			return b.Add(number, j, time.Duration(run*float64(unit)))
		})
		if err != nil {
			return workload.Trace{}, err
		}
		return b.Finish(skipped), nil
	},
	Writer: func(w io.Writer, t workload.Trace) error {
		for i, j := range t.Jobs {
			_, err := fmt.Fprintln(w, j.Name, j.Class, j.Arrival.Seconds(), j.Threads, j.GPUs, t.RunTimes[i].Seconds())
			if err != nil {
				return err
			}
		}
		return nil
	},
}

const (
	tallyText = "a train 0 2 1 10\nb train 1 1 0 5\nc test 2 1 0 100\n"
	tallyFile = `
experiment "tallied" { replicates = 1 }

workload "recorded" {
  trace {
    file    = "cluster.tally"
    classes = ["train"]
  }
}

hardware "sim" {
  engine   = "simulated"
  threads  = 2
  gpus     = 1
}

policy "fcfs" { order = "fcfs" }
`
)

// A trace format needs only one registered value. Then the language, its reference, the plan, the run, the report and
// the command support it.
func TestNewTraceFormat(t *testing.T) {
	formats.Register(tally)
	const trace = "cluster.tally"
	s := inSandbox(t, tallyFile)
	s.write(trace, tallyText)

	documented(t, "Only for `tally`:\n\n- `classes` (list of strings, default: all): ")
	inHelp(t, "trace.format", "- `tally`: A line is", "`.tally`")

	s.plans("1 cell to run")
	s.run()
	finish := map[string]string{}
	for _, row := range s.table("jobs.csv") {
		finish[row["job"]] = row["finish_s"]
	}
	if len(finish) != 2 || !strings.HasPrefix(finish["a"], "10") || !strings.HasPrefix(finish["b"], "15") {
		t.Errorf("finished at %v, want a at 10 and b, which waits for it, at 15", finish)
	}
	s.holds("report.html", "cluster.tally (tally)")

	s.plans("all reused")
	s.write(trace, strings.Replace(tallyText, "5\n", "6\n", 1))
	s.plans("1 cell runs: ", "trace")

	for format, want := range map[string]string{"tally": "a train 0 2 1 10\nb train 1 1 0 6\n", "swf": "a has GPUs"} {
		_, text, errs := inProcess("export", "workload", "--format", format, s.file)
		if got := strings.ReplaceAll(text+errs, `"`, ""); !strings.Contains(got, want) {
			t.Errorf("export as %s:\n%s", format, got)
		}
	}
	contains(t, "the help of export", outputOf(t, "export", "workload", "--help"), "batsim, tally")

	s.write(trace, "a train soon\n")
	diags := s.diagnostics()
	if len(diags) == 0 || diags[0].Range.File != filepath.Join(s.dir, trace) || diags[0].Range.Start.Line != 1 {
		t.Errorf("a malformed line: %v", diags)
	}
}

// It is a programming error to register a format twice, or two formats with one file ending.
func TestFormatsAreRegisteredOnce(t *testing.T) {
	for _, f := range []*formats.Format{
		{Name: "swf", Doc: "x", Reader: tally.Reader},
		{Name: "other", Doc: "x", Endings: []string{".csv"}, Reader: tally.Reader},
		{Name: "other", Doc: "x"},
		{Name: "other", Doc: "x", Reader: tally.Reader, Args: []schema.Arg{{Name: "unit", Type: schema.String}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is registered", f)
				}
			}()
			formats.Register(f)
		}()
	}
	untimed := workload.Trace{Jobs: []scheduler.Job{{Name: "a", Threads: 1, Deadline: scheduler.Never}}}
	if err := tally.Write(io.Discard, untimed); !errors.Is(err, formats.ErrCannotHold) {
		t.Errorf("a job without a run time is written: %v", err)
	}
}
