// Package elastic decodes what a file says of jobs that can train on any number of GPUs.
package elastic

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/estimator/goodput"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Decoder decodes the elastic blocks of a file. Programs that are measured alike are read once.
type Decoder struct {
	files.Finder
	archives map[string]*packed
	programs map[string]*goodput.MeasuredProgram
}

// packed is an archive that was read, or could not be.
type packed struct {
	goodput.Archive
	digest string
}

// New returns a decoder.
func New(f files.Finder) *Decoder {
	return &Decoder{Finder: f, archives: map[string]*packed{}, programs: map[string]*goodput.MeasuredProgram{}}
}

// The arguments that only one of the two ways to describe a program reads.
var (
	lawArgs = []string{
		"alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r", "beta_r", "gamma",
		"gradient_square", "gradient_variance", "samples",
	}
	// lawNeeds are those without a default.
	lawNeeds = []string{"gradient_square", "gradient_variance", "samples", "first_batch"}
)

// Runtime decodes an elastic block. rt has the arguments of the runtime block around it.
func (d *Decoder) Runtime(n *eval.Node, e *eval.Env, rt *eval.Args, j *experiments.Job) (*experiments.Runtime, bool) {
	a := d.EvalArgs(n, e)
	contradictions(n, a, rt, j)
	out := &experiments.Elastic{
		Batch: eval.Get[int](a, "batch"), MostGPUs: eval.Get[int](a, "max_gpus"),
		Resolution: eval.Get[time.Duration](a, "resolution"), Range: eval.RangeOf(n.Header),
	}
	settings := goodput.MeasuredSettings{Epochs: j.Epochs, Limits: goodput.Limits{
		First: eval.Get[int](a, "first_batch"), Most: eval.Get[int](a, "max_batch"),
		Least: eval.Get[int](a, "min_per_gpu"), Greatest: eval.Get[int](a, "max_per_gpu"),
	}}
	if a.IsSet("measurements") {
		d.measured(a, j, settings, out)
	} else {
		lawful(a, j, settings, out)
	}
	if !a.OK || !rt.OK || out.Program == nil {
		return nil, false
	}
	if most := out.Program.Limits.Most; out.Batch > most {
		a.Fail(a.At("batch"), "Value out of range", "A batch of %d is larger than the greatest, %d.", out.Batch, most)
		return nil, false
	}
	out.Source += fmt.Sprintf(", batch %d, at most %d GPUs, epochs end on %s", out.Batch, out.MostGPUs, out.Resolution)
	if rates := eval.Get[[]experiments.GPURate](rt, "gpu_rate"); len(rates) > 0 {
		out.Rates = map[string]float64{}
		for _, r := range rates {
			out.Rates[r.Type] = r.Rate
		}
		out.Source += fmt.Sprintf(", rates %v", rates)
	}
	return &experiments.Runtime{
		Startup: eval.Get[time.Duration](rt, "startup"), Whole: true, Elastic: out,
		Epoch: workload.Span{Kind: workload.Every, Mean: 1}, // takes what its course takes
	}, true
}

// contradictions reports what goes with no elastic job.
func contradictions(n *eval.Node, a, rt *eval.Args, j *experiments.Job) {
	for _, name := range []string{
		"epoch", "parallel", "speedup", "table", "file", "threads_column", "time_column", "where",
		"per", "losses", "loss_column", "beside",
	} {
		if rt.IsSet(name) {
			rt.Fail(rt.At(name), "Contradicting arguments",
				"%s and the elastic block both say how long the job takes.", name)
		}
	}
	switch {
	case rt.Node.First("cluster") != nil:
		a.Fail(n.Header, "Contradicting blocks",
			"The cluster block and the elastic block both say how long the job takes.")
	case len(j.Roles) > 0:
		a.Fail(n.Header, "Contradicting blocks", "A job with roles keeps its parts: it cannot be elastic.")
	case j.Malleable:
		a.Fail(n.Header, "Contradicting arguments",
			"A malleable job is given other cores, an elastic one other GPUs: a job is one of them.")
	case j.Epochs == 0:
		a.Fail(n.Header, "Job without epochs",
			"An elastic block knows the time of epochs: give the work of the job as epochs.")
	case j.GPUs == 0:
		a.Fail(n.Header, "Job without GPUs",
			"An elastic job trains on GPUs: give the number that it requests as gpus.")
	}
}

// lawful makes a program from a law.
func lawful(a *eval.Args, j *experiments.Job, s goodput.MeasuredSettings, out *experiments.Elastic) {
	missing := slices.DeleteFunc(slices.Clone(lawNeeds), func(name string) bool { return !a.Lacks(name) })
	if len(missing) > 0 && !a.Node.Broken {
		a.Fail(a.Node.Header, "Missing argument", "%s needs measurements, or %s.", a.Node.Title(), words.AllOf(missing))
		return
	}
	if a.IsSet("program") {
		a.Fail(a.At("program"), "Argument that nothing reads", "program belongs to measurements, which is not set.")
	}
	if !a.OK {
		return
	}
	number := func(name string) float64 { return eval.Get[float64](a, name) }
	params := goodput.Params{
		AlphaC: number("alpha_c"), BetaC: number("beta_c"), AlphaN: number("alpha_n"), BetaN: number("beta_n"),
		AlphaR: number("alpha_r"), BetaR: number("beta_r"), Gamma: max(number("gamma"), 1),
	}
	noise := goodput.Noise{Square: number("gradient_square"), Variance: number("gradient_variance")}
	l := &s.Limits
	l.Most = max(l.Most, l.First)
	if a.IsSet("max_batch") {
		l.Most = eval.Get[int](a, "max_batch")
	}
	l.Least = max(l.Least, 1)
	if l.Greatest == 0 {
		l.Greatest = l.Most
	}
	samples := eval.Get[int](a, "samples")
	var err error
	if out.Program, err = goodput.ByLaw(j.Name, params, noise, samples, s); err != nil {
		a.Fail(a.Node.Header, "Arguments that do not fit together", "%s", files.Sentence(err.Error()))
		return
	}
	out.Source = fmt.Sprintf("law %+v, noise %+v, %d samples, %+v", params, noise, samples, s)
}

// measured reads a program that was measured.
func (d *Decoder) measured(a *eval.Args, j *experiments.Job, s goodput.MeasuredSettings, out *experiments.Elastic) {
	for _, name := range lawArgs {
		if a.IsSet(name) {
			a.Fail(a.At(name), "Contradicting arguments", "measurements and %s both say how fast the job trains.", name)
		}
	}
	if !a.OK {
		return
	}
	from, name := d.Find(eval.Get[string](a, "measurements")), j.Name
	if a.IsSet("program") {
		name = eval.Get[string](a, "program")
	}
	key := fmt.Sprintf("%s %s %+v", from.Path, name, s)
	folder, digest, ok := d.folder(a, &from, name)
	if !ok {
		return
	}
	out.Source = fmt.Sprintf("%s of %s, %+v", name, digest, s)
	if p, ok := d.programs[key]; ok {
		out.Program = p
		return
	}
	p, err := goodput.ReadMeasured(folder, name, s)
	if err != nil {
		d.unreadable(a, from, err)
		return
	}
	d.programs[key], out.Program = p, p
}

// folder finds the measurements of a program, and their digest. A folder is then that of the program.
func (d *Decoder) folder(a *eval.Args, from *files.File, name string) (fs.FS, string, bool) {
	at := a.At("measurements")
	info, err := os.Stat(from.Path)
	if err == nil && info.IsDir() {
		if _, err := os.Stat(filepath.Join(from.Path, name, goodput.PlacementsFile)); err == nil {
			from.Path, from.Shown = filepath.Join(from.Path, name), filepath.Join(from.Shown, name)
		}
		folder := os.DirFS(from.Path)
		digest, err := digestOf(folder)
		if err != nil {
			d.unreadable(a, *from, err)
		}
		return folder, digest, err == nil
	}
	all, ok := d.archive(a, *from)
	if !ok {
		return nil, "", false
	}
	folder := all.Program(name)
	if folder == nil {
		names := all.Programs()
		a.Wrong(at, words.Nearest(name, names), "Unknown program",
			"%s has no measurements of %q; it has %s.", from.Shown, name,
			strings.Join(names, ", "))
		return nil, "", false
	}
	return folder, all.digest, true
}

// archive reads an archive, once.
func (d *Decoder) archive(a *eval.Args, from files.File) (*packed, bool) {
	if all, ok := d.archives[from.Path]; ok {
		a.OK = a.OK && all.Archive != nil
		return all, all.Archive != nil
	}
	all := &packed{}
	d.archives[from.Path] = all
	digest, err := files.ReadAll(from, func(r io.Reader) (err error) {
		all.Archive, err = goodput.Unpack(r)
		return err
	})
	if err != nil {
		all.Archive = nil
		a.OK = false
		d.FileErrors(from, a.At("measurements"), err)
		return nil, false
	}
	all.digest = "sha256:" + digest
	return all, true
}

// unreadable reports what is wrong with measurements: at its line, where there is one to show.
func (d *Decoder) unreadable(a *eval.Args, from files.File, err error) {
	a.OK = false
	var row *goodput.RowError
	if info, statErr := os.Stat(from.Path); errors.As(err, &row) && statErr == nil && info.IsDir() {
		d.LineError(files.File{Path: filepath.Join(from.Path, row.File), Shown: filepath.Join(from.Shown, row.File)},
			row.Line,
			"Malformed line", files.Sentence(row.Err.Error()))
		return
	}
	d.Errorf(a.At("measurements"), "Unreadable measurements", "%s: %v.", from.Shown, err)
}

// digestOf is a hash of all files of a program.
func digestOf(folder fs.FS) (string, error) {
	names, err := fs.Glob(folder, "*.csv")
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		h.Write(text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
