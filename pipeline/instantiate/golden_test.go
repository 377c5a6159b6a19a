package instantiate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	_ "github.com/tfexp/tfexp/stages/all"
	"github.com/tfexp/tfexp/stages/clusterspeed"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/reference"
	"github.com/tfexp/tfexp/stages/remaining"
	"github.com/tfexp/tfexp/stages/servers"
	"github.com/tfexp/tfexp/stages/tuning/search"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// machine is the machine that the experiments are planned for.
var machine = hardware.Machine{
	Name: "tester", OS: "linux", Arch: "amd64", Threads: 4, Cores: 2, LogicalCPUs: 4, MemoryBytes: 8 << 30,
	CPUModel: "Test CPU",
	Allowed:  []int{0, 1, 2, 3},
}

// shared are experiments that the packages that read them are tested by as well.
var shared = []string{"alternatives", "cluster", "cluster_speed", "contention", "elastic", "references",
	"roles", "runtimes", "traces",
	"tune_context", "tune", "docker", "adaptation_job"}

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden files in testdata have experiments as plain values: the plan, and the keys, jobs, work and estimates of
// the cells.
func TestExperiments(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOARCH != "amd64" {
		t.Skip("the golden files have paths with slashes, and numbers to the last digit")
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range shared {
		files = append(files, filepath.Join("..", "decode", "testdata", "good", name+".hcl"))
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", name+".golden")
			got := text(t, file)
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs (go test ./pipeline/instantiate -update rewrites it)%s",
					golden, firstDifference(want, got))
			}
		})
	}
}

// firstDifference shows the first line that differs.
func firstDifference(want, got []byte) string {
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("; line %d is\n%s\nand was\n%s", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf(": %d lines, not %d", len(b), len(a))
}

// most is the greatest number of cells of an experiment, and of jobs of a cell, that the golden files have.
const most = 8

// text is an experiment in plain values: its plan, then for each cell the key lines that differ from the previous
// cell's, the jobs with their work, and everything else.
func text(t *testing.T, file string) []byte {
	t.Helper()
	spec, diags := decode.File(file, decode.Options{Host: experiments.HostFacts{
		Threads: machine.Threads, Cores: machine.Cores, MemoryBytes: machine.MemoryBytes, OS: machine.OS, Arch: machine.Arch,
		CPUModel: machine.CPUModel, Name: machine.Name,
	}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	x, err := instantiate.New(spec, machine)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	write := func(title string, v any) {
		if raw := line(v); raw != "null" {
			fmt.Fprintf(&b, "%s %s\n", title, raw)
		}
	}
	plan := x.Plan()
	field := func(name string, f reflect.Value) {
		if f.Kind() == reflect.Slice && f.Len() <= most { // a longer slice (pictures) is left out
			for j := range f.Len() {
				write(name, f.Index(j).Interface())
			}
		} else if f.Kind() != reflect.Slice {
			write(name, f.Interface())
		}
	}
	asked := func(name string, v any) { field(name, reflect.ValueOf(v)) }
	for i, fields := 0, reflect.ValueOf(plan); i < fields.NumField(); i++ {
		name := fields.Type().Field(i).Name
		if fields.Type().Field(i).IsExported() {
			field(name, fields.Field(i))
		}
		switch name {
		case "Compares":
			asked("Targets", remaining.Targets.Of(&plan))
			asked("Clusters", clusterspeed.Asked.Of(&plan))
			asked("Lives", servers.LifetimesMember.Of(&plan))
			asked("Checkpoints", servers.CheckpointsMember.Of(&plan))
			asked("References", reference.Asked.Of(&plan))
		case "Plots":
			asked("Tunings", trial.Asked.Of(&plan))
		}
	}
	for _, u := range x.SampledUnits() {
		u := *u
		for l := range strings.Lines(u.Key) {
			b.WriteString("sample key " + l)
		}
		if u.Launch != nil {
			write("sample launch", u.Launch("sample", 3, "logs", "scratch"))
		}
		u.Key = ""
		write("sample", u)
		x.SetSamples(u.Hash, samples(&u))
	}
	rows, warnings := x.Estimates()
	for _, r := range rows {
		write("estimated", r)
	}
	for _, w := range warnings {
		write("warning", w)
	}
	for _, r := range x.SampleRows() {
		write("sample row", r)
	}
	cells := x.Cells()
	for i, tune := range search.Of(spec) {
		for n, values := range trials(tune) {
			one, err := tune.Trial(1, x.ReplicateSeed(1), values, trial.Ref{Tuning: i, Number: n + 1})
			if err != nil {
				fmt.Fprintf(&b, "no trial %v: %v\n", values, err)
				continue
			}
			c := x.Add(one)
			x.Added([]*instantiate.Cell{c})
			cells = append(cells, c)
		}
	}
	var before []string
	exported := map[*experiment.Workload]bool{}
	for i, c := range cells {
		if i == most {
			break
		}
		write("\ncell", c.Ref)
		before = writeCell(write, c, before)
		if i >= len(spec.Cells)*spec.Replicates {
			continue
		}
		if w := spec.Cells[i/spec.Replicates].Workload; !exported[w] {
			exported[w] = true
			writeWorkload(t, write, spec, w)
		}
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := strings.NewReplacer(dir, "DIR", program, "TFEXP").Replace(b.String())
	return []byte(installed.ReplaceAllString(out, " installed here"))
}

// installed is a program of the machine that the tests run on, with the digest of its file.
var installed = regexp.MustCompile(` /\S*/bin/\S+ sha256:[0-9a-f]+`)

// trials are values of the settings of a tuning: the first and the last of each.
func trials(t *search.Search) [][]string {
	if len(t.Candidates) > 0 {
		return [][]string{t.Candidates[0], t.Candidates[len(t.Candidates)-1]}
	}
	all := make([][]string, 2)
	for _, s := range t.Settings {
		if len(s.Values) > 0 {
			all[0], all[1] = append(all[0], s.Values[0]), append(all[1], s.Values[len(s.Values)-1])
		} else {
			all[0], all[1] = append(all[0], trial.Number(s.Min)), append(all[1], trial.Number(s.Max))
		}
	}
	return all
}

// writeCell writes the lines of a cell's key that are not in before, and the cell's task. It returns the lines of the
// key.
func writeCell(write func(title string, v any), c *instantiate.Cell, before []string) []string {
	key, err := c.Key()
	if err != nil {
		write("no key", err.Error())
		return before
	}
	for _, l := range key.Lines() {
		if !slices.Contains(before, l) {
			write("key", l)
		}
	}
	task, err := c.Task(stages.Folders{Dir: "cell", Scratch: "scratch"})
	if err != nil {
		write("no task", err.Error())
		return key.Lines()
	}
	jobs := len(task.Setup.Jobs)
	writeTask(write, task)
	if !c.Ref.Real() {
		return key.Lines()
	}
	twin, description, err := c.Twin(stages.Seen{Estimated: c.Estimated()})
	if err != nil {
		write("no twin", err.Error())
		return key.Lines()
	}
	for l := range strings.Lines(description) {
		write("twin key", l)
	}
	writeTask(write, twin)
	if c.Corrects() { // each job took a tenth longer than estimated
		if err := c.Learn(slices.Repeat([]float64{1.1}, jobs)); err != nil {
			write("not learned", err.Error())
		}
		write("corrected", c.Estimated())
	}
	return key.Lines()
}

// writeWorkload writes a workload as a trace, with and without the run times that are the same for all jobs of a block.
func writeWorkload(t *testing.T, write func(title string, v any), spec *experiment.Spec, w *experiment.Workload) {
	t.Helper()
	for _, runTimes := range []bool{false, true} {
		trace, err := instantiate.Workload(spec, w, 1, runTimes)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range first(trace.Jobs) {
			write("exported", struct {
				Name         string
				Predicted    time.Duration
				Timed        bool
				RunTimes     []time.Duration
				Alternatives any
			}{j.Name, j.Predicted, trace.Timed(i),
				slices.Clip(trace.RunTimes[min(i, len(trace.RunTimes)):min(i+1, len(trace.RunTimes))]),
				trace.AlternativesOf(i)})
		}
	}
}

// samples are the samples of a program that starts in 400 ms and whose units take 50 ms each on one thread; a quarter
// more while others run.
func samples(u *stages.Unit) (all []estimator.Sample) {
	for _, length := range u.Lengths {
		for repeat := range max(u.Repeats, 1) {
			s := estimator.Sample{
				Length: length, Threads: u.Threads, GPUs: u.GPUs, Inter: u.Inter, Intra: u.Intra, GPUType: u.GPUType,
				Wall: 0.4 + 0.05*float64(length)/float64(u.Threads), EngineTimes: estimator.EngineTimes{
					Launch: 0.01, Pause: 0.002 + 0.001*float64(repeat), Resume: 0.003, Resize: 0.004},
			}
			if u.Copies > 0 {
				s.Wall, s.Others, s.Total = 1.25*s.Wall, (u.Copies-1)*u.Threads, u.Cores
			}
			all = append(all, s)
		}
	}
	return all
}

// writeTask writes a task job by job.
func writeTask(write func(title string, v any), task stages.Task) {
	for i := range task.Setup.Jobs {
		if i == most {
			break
		}
		write("job", task.Setup.Jobs[i])
		if i < len(task.Setup.Alone) {
			write("  alone", task.Setup.Alone[i])
		}
		if i < len(task.Launches) {
			write("  launch", task.Launches[i])
		}
		if i < len(task.Setup.Predicted) {
			write("  predicted", task.Setup.Predicted[i])
		}
		if i < len(task.Speeds) {
			write("  predicted work", task.Speeds[i])
		}
		if task.Simulation == nil {
			continue
		}
		write("  work", task.Simulation.Work[i])
		if i < len(task.Simulation.Finals) {
			write("  final", task.Simulation.Finals[i])
		}
		if all := task.Simulation.Options.Checkpoints; i < len(all) {
			write("  checkpoints", all[i])
		}
	}
	if s := task.Simulation; s != nil {
		s.Jobs, s.Work, s.Finals, s.Options.Checkpoints = nil, nil, nil, nil
	}
	if o := task.Online; o != nil {
		o.Units, o.Block, o.Work, o.Errors = first(o.Units), first(o.Block), first(o.Work), first(o.Errors)
	}
	task.Setup.Jobs, task.Setup.Alone, task.Setup.Predicted, task.Launches, task.Speeds = nil, nil, nil, nil, nil
	task.Setup.PredictedOn = first(task.Setup.PredictedOn)
	task.Setup.Cell = instantiate.Cell{}.Ref // it is written before
	write("task", task)
}

func first[E any](all []E) []E { return all[:min(len(all), most)] }

// line writes a value as JSON without zero fields.
func line(v any) string {
	raw, err := json.Marshal(plain(reflect.ValueOf(v)))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// plain returns a value as JSON can have it: durations as people read them, numbers to five digits, a function of
// threads as its values; nil for a zero value.
func plain(v reflect.Value) any {
	if !v.IsValid() || v.IsZero() {
		return nil
	}
	if v.CanInterface() {
		switch x := v.Interface().(type) {
		case time.Duration:
			return x.String()
		case *record.FeatureValue:
			return plain(reflect.ValueOf(record.FeatureValueOf[trial.Ref](x)))
		case func(int) float64:
			return []float64{short(x(1)), short(x(2)), short(x(3)), short(x(4)), short(x(8))}
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if kind, ok := v.Interface().(*engine.Kind); ok {
			return kind.Name
		}
		return plain(v.Elem())
	case reflect.Float64:
		return fmt.Sprintf("%.5g", v.Float())
	case reflect.Func:
		return "a function"
	case reflect.Struct:
		all := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			p := plain(v.Field(i))
			if !f.IsExported() || p == nil {
				continue
			}
			// How a struct is divided into others makes no difference.
			if parts, ok := p.(map[string]any); ok && (f.Anonymous || f.Type.Kind() == reflect.Pointer) {
				maps.Copy(all, parts)
			} else {
				all[f.Name] = p
			}
		}
		if len(all) == 0 {
			return nil
		}
		return all
	case reflect.Map:
		all := map[string]any{}
		for _, k := range v.MapKeys() {
			all[fmt.Sprint(k.Interface())] = plain(v.MapIndex(k))
		}
		return all
	case reflect.Slice, reflect.Array:
		all := make([]any, v.Len())
		empty := true
		for i := range all {
			all[i] = plain(v.Index(i))
			empty = empty && all[i] == nil
		}
		if empty {
			return nil
		}
		return all
	}
	return v.Interface()
}

func short(f float64) float64 {
	var g float64
	fmt.Sscanf(fmt.Sprintf("%.5g", f), "%g", &g)
	return g
}
