// Package program knows the programs of jobs: how they are launched, where they
// run, and what their results depend on.
package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/builtin"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/store"
)

// Programs knows how the jobs of an experiment are launched, and what their
// programs depend on. The descriptions are made once for each job block.
type Programs struct {
	self    string // tfexp's own path, for the built-in trainers
	base    string // the experiment's folder
	lines   map[*experiments.Job][]string
	sources map[*experiments.Job][]string
	digests map[string]string // path → what describes its content
	// places has the jobs whose hardware is not simply this machine.
	places map[*experiments.Job]*Place
}

// New returns what knows the programs of an experiment file. places has the jobs whose
// hardware is not simply this machine.
func New(file string, places map[*experiments.Job]*Place) (*Programs, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find tfexp's own program: %w", err)
	}
	base, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("find the experiment's folder: %w", err)
	}
	return &Programs{
		self: self, base: base, places: places, digests: map[string]string{},
		lines: map[*experiments.Job][]string{}, sources: map[*experiments.Job][]string{},
	}, nil
}

// Describe returns the key lines of a job: its program and its length.
func (p *Programs) Describe(j *experiments.Job) []string {
	var k store.Key
	k.Append(p.program(j))
	if !j.Open() {
		k.Add("job."+j.Name+"."+LengthUnit(j), strconv.Itoa(Length(j)))
	}
	if j.Budget != nil {
		k.Add("job."+j.Name+".budget", j.Budget.String())
	}
	return k.Lines()
}

// program returns the key lines of what a job runs, at any length: its program
// with the content of its files, and its request.
func (p *Programs) program(j *experiments.Job) []string {
	if l, ok := p.lines[j]; ok {
		return l
	}
	var k store.Key
	label := func(s string) string { return "job." + j.Name + "." + s }
	k.Append(p.Source(j))
	k.Append(Held(j))
	if j.Malleable {
		k.Addf(label("malleable"), "%d to %d", j.Threads.Min, j.Threads.Max)
	}
	if j.TargetLoss > 0 {
		k.Addf(label("target_loss"), "%g", j.TargetLoss)
	}
	if j.Limit > 0 {
		k.Add(label("limit"), j.Limit.String())
	}
	if ev := j.Events; ev != nil {
		k.Addf(label("progress"), "%q loss %q accuracy %q epochs %t", ev.Below, ev.Loss, ev.Accuracy, ev.Epochs)
	}
	if j.Retries > 0 {
		k.Add(label("retries"), strconv.Itoa(j.Retries))
	}
	p.lines[j] = k.Lines()
	return k.Lines()
}

// Source returns the key lines of a job's program alone: what it is, and the
// content of its files.
func (p *Programs) Source(j *experiments.Job) []string {
	if l, ok := p.sources[j]; ok {
		return l
	}
	var k store.Key
	label := func(s string) string { return "job." + j.Name + "." + s }
	switch {
	case j.Recorded != nil:
		raw, _ := json.Marshal(j.Recorded.Outcome) // numbers and a text
		k.Addf(label("recorded"), "%s, %s", filepath.Base(j.Recorded.File), raw)
	case j.Builtin != "":
		k.Addf(label("builtin"), "%s version %d", j.Builtin, builtin.Version)
		for _, s := range j.Settings {
			k.Add(label(s.Name), s.Value)
		}
	default:
		k.Addf(label("command"), "%q", j.Command)
		if !p.places[j].contained() {
			k.Add(label("dir"), p.place(j.Dir))
		}
		for _, e := range j.Env {
			k.Add(label("env."+e.Name), e.Value)
		}
		k.Add(label("flags"), strconv.FormatBool(j.Flags))
		for _, f := range p.inputs(j) {
			k.Addf(label("file."+filepath.Base(f)), "%s %s", p.place(f), p.digest(f))
		}
	}
	if in := p.places[j]; in != nil {
		k.Append(in.lines(p, j))
	}
	p.sources[j] = k.Lines()
	return k.Lines()
}

// Held returns the key lines of what a job holds while it runs.
func Held(j *experiments.Job) []string {
	var k store.Key
	label := func(s string) string { return "job." + j.Name + "." + s }
	k.Addf(label("threads"), "%d (inter %d, intra %d)", j.Threads.Request, j.Threads.Inter, j.Threads.Intra)
	if j.GPUs > 0 {
		k.Add(label("gpus"), strconv.Itoa(j.GPUs))
	}
	if j.Memory > 0 {
		k.Add(label("memory"), strconv.FormatInt(j.Memory, 10))
	}
	if j.Nodes > 1 {
		k.Add(label("nodes"), strconv.Itoa(j.Nodes))
	}
	for _, r := range j.Roles {
		more := ""
		if r.GPU != "" {
			more += ", gpu " + r.GPU
		}
		if r.Vital {
			more += ", vital"
		}
		if r.Max > 0 {
			more += fmt.Sprintf(", max %d", r.Max)
		}
		k.Addf(label("role."+r.Name), "%d parts, threads %d, gpus %d, elastic %t, min %d%s", r.Count, r.Threads, r.GPUs,
			r.Elastic, r.Min, more)
	}
	return k.Lines()
}

// place writes a path relative to the experiment's folder where it is below
// it, so that a folder that was moved or cloned runs nothing again.
func (p *Programs) place(path string) string {
	if rel, err := filepath.Rel(p.base, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// inputs are the files that a command job depends on: its program, arguments
// that name a file, and the files and folders that it declares.
func (p *Programs) inputs(j *experiments.Job) []string {
	var files []string
	seen := map[string]bool{}
	find := func(path string, folders bool) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(j.Dir, path)
		}
		if st, err := os.Stat(path); err == nil && (st.Mode().IsRegular() || folders && st.IsDir()) && !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	add := func(path string) { find(path, false) }
	if p.places[j].contained() { // its program is in the image
		for _, f := range j.Files {
			find(f, true)
		}
		return files
	}
	if strings.ContainsRune(j.Command[0], filepath.Separator) {
		add(j.Command[0])
	} else if path, err := exec.LookPath(j.Command[0]); err == nil {
		add(path)
	}
	for _, arg := range j.Command[1:] {
		add(arg)
	}
	for _, f := range j.Files {
		find(f, true)
	}
	return files
}

// Launch returns how an engine starts a job. units is the length
// that this run has; a profile's sample is shorter than the job.
func (p *Programs) Launch(j *experiments.Job, name string, units int, dirs Folders) launch.Job {
	out := launch.Job{
		Name: name, Dir: j.Dir, Place: fmt.Sprintf("%s line %d", j.Range.File, j.Range.Start.Line),
		LogPath:       filepath.Join(dirs.Logs, name+".log"),
		ControlPath:   filepath.Join(dirs.Scratch, name+".control"),
		CheckpointDir: filepath.Join(dirs.Scratch, name+".checkpoint"),
		Threads:       j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra,
		Limit: j.Limit, Flags: j.Flags, GPUs: j.GPUs, Steps: j.Steps > 0,
		Memory: j.Memory, Container: j.Container, Roles: j.Roles,
	}
	if j.Events != nil {
		events := *j.Events
		events.Dir = filepath.Join(out.CheckpointDir, events.Below)
		out.Events = &events
	}
	lengthVar := contract.EnvEpochs
	if j.Steps > 0 {
		lengthVar = contract.EnvSteps
	}
	if units > 0 {
		out.Env = append(out.Env, fmt.Sprintf("%s=%d", lengthVar, units))
	}
	for _, e := range j.Env {
		out.Env = append(out.Env, e.Name+"="+e.Value)
	}
	if j.Builtin == "" {
		out.Argv = append(out.Argv, j.Command...)
		return out
	}
	out.Argv = []string{p.self, "train", j.Builtin}
	for _, s := range j.Settings {
		out.Argv = append(out.Argv, "--"+strings.ReplaceAll(s.Name, "_", "-"), s.Value)
	}
	out.ContainerArgv = append([]string{"tfexp"}, out.Argv[1:]...) // the image has a tfexp of its own
	return out
}

// Folders are the folders of one run of jobs: the Logs stay, Scratch
// (control files and checkpoints) goes when the run is over.
type Folders struct {
	Logs, Scratch string
}

// Length is a job's total work, in epochs or steps; 0 of an open job.
func Length(j *experiments.Job) int {
	if j.Steps > 0 {
		return j.Steps
	}
	return j.Epochs
}

// LengthUnit is what the length counts: epochs or steps.
func LengthUnit(j *experiments.Job) string {
	if j.Steps > 0 {
		return "steps"
	}
	return "epochs"
}
