package pipeline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/load"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// Resume plans the rest of an unfinished run from what its folder holds: the
// experiment as it was read, and the values that its variables had. dir is an
// experiment's folder, or a folder of results, of which the newest unfinished
// run is taken; ErrNothingToResume when all are finished.
func Resume(dir string, opts Options, host experiments.HostFacts) (*Plan, experiments.Diagnostics, error) {
	dirs, err := Experiments(dir)
	if err != nil {
		return nil, nil, err
	}
	var chosen string
	var newest time.Time
	var record record.Run
	broken := false // the chosen run was broken off, rather than failed
	for _, d := range dirs {
		r, err := readRun(d)
		if err != nil {
			if d == dir {
				return nil, nil, err
			}
			continue
		}
		started, err := time.Parse(time.RFC3339, r.Started)
		if err != nil || (r.State == "finished" && r.Reported && d != dir) {
			continue
		}
		// A run that came to its end with failed cells waits until no other
		// was broken off.
		off := r.State != "failed"
		if chosen == "" || off && !broken || off == broken && started.After(newest) {
			chosen, newest, record, broken = d, started, r, off
		}
	}
	if chosen == "" {
		return nil, nil, fmt.Errorf("%w in %s", ErrNothingToResume, dir)
	}
	source, vars, err := savedSource(chosen)
	if err != nil {
		return nil, nil, err
	}
	spec, diags := load.Source(record.File, source, load.Options{Vars: vars, Host: host, Lenient: record.Lenient})
	if diags.HasErrors() {
		return nil, diags, nil
	}
	opts.Out, opts.Dir = filepath.Dir(chosen), chosen
	plan, err := New(spec, opts)
	return plan, diags, err
}

// savedSource reads the experiment that a folder's run was made of.
func savedSource(dir string) (source []byte, vars []string, err error) {
	source, err = folder.ReadFile(dir, record.ExperimentFile)
	if errors.Is(err, os.ErrNotExist) {
		source, err = folder.ReadFile(dir, record.ExperimentFile+".json")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the experiment of %s: %w", dir, err)
	}
	var plan record.Plan
	if err := folder.ReadJSON(dir, &plan, record.PlanFile); err != nil {
		return nil, nil, fmt.Errorf("read the plan of %s: %w", dir, err)
	}
	for _, v := range plan.Variables {
		vars = append(vars, v.Name+"="+v.Value)
	}
	return source, vars, nil
}

// ErrNotBegun is returned for a folder in which a run was broken off before it had written down what it is.
var ErrNotBegun = errors.New("it was broken off before anything ran")

func readRun(dir string) (record.Run, error) {
	var r record.Run
	err := folder.ReadJSON(dir, &r, record.RunFile)
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("read the run of %s: %w", dir, ErrNotBegun)
	}
	if err != nil {
		return r, fmt.Errorf("read the run of %s: %w", dir, err)
	}
	return r, nil
}
