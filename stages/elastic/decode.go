package elastic

import (
	"cmp"
	"crypto/sha256"
	"embed"
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

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/elastic/goodput"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// elasticArgs are the arguments of an elastic block.
//
// The speed of a simulated job whose number of GPUs and batch size can change: the time and progress of a step. Orders
// such as `optimus` and `pollux` set the GPUs of such jobs again in each round; under other policies it trains on its
// request. Its work is `epochs`. The `gpu_rate` of the runtime block then says how many times faster a gradient is on
// each type of GPU than this block says: the average over GPUs takes as long on all.
//
// Either `measurements` has recorded runs of the program, or the arguments from `alpha_c` on have the law
// of Pollux: a gradient over b samples takes a GPU Tg = `alpha_c` + `beta_c`·b seconds; its average over K GPUs
// takes Tn = `alpha_r` + `beta_r`·max(K − 2, 0) seconds within a node and `alpha_n` + `beta_n`·max(K − 2, 0)
// across nodes; and a step both, (Tg^γ + Tn^γ)^(1/γ) with γ = `gamma`. With a batch s times as large as
// `first_batch`, a sample is worth (v + q)/(v/s + q)/s, where q = `gradient_square` is the square of the
// gradient's norm and v = `gradient_variance` its variance.
//
// Measurements are a folder with `placements.csv` (columns `placement`, the GPUs on each node as digits,
// `local_bsz`, the samples on each GPU, `step_time` and `sync_time`, in seconds), perhaps `scalability.csv`
// (`num_nodes`, `num_replicas` and the same), and a file `validation-<batch size>.csv` for each recorded
// training (one row for each epoch: `progress` in samples of worth 1, divided by the first batch size, `iteration`,
// `grad_sqr`, `grad_var`). Between measurements, times are interpolated. The job learns the law from the
// steps that it has made, as Pollux's agents do.
//
//	job "resnet" {
//	  command = ["train"]
//	  epochs  = 90
//	  gpus    = 2
//	  runtime {
//	    elastic {
//	      alpha_c           = 0.012
//	      beta_c            = 0.0035
//	      alpha_n           = 0.06
//	      beta_n            = 0.004
//	      alpha_r           = 0.02
//	      beta_r            = 0.001
//	      gamma             = 2.5
//	      gradient_square   = 0.002
//	      gradient_variance = 0.05
//	      samples           = 50000
//	      first_batch       = 128
//	      max_batch         = 2048
//	    }
//	  }
//	}
type elasticArgs struct {
	// A folder with measurements of the program, a folder with one such folder for each program, or a tar archive of
	// either. The names of archives end with `.tar`, `.tar.gz` or `.tgz`. Relative to the folder of the experiment
	// file.
	//
	//	measurements = "pollux/traces.tar.gz"
	Measurements string `arg:"measurements"`
	// The folder of the job's program, if `measurements` has several programs.
	//
	// Default: the name of the job.
	//
	//	program = "cifar10"
	Program string `arg:"program"`
	// The batch size of the job, in samples, under every policy. Without it, policies that choose batch sizes do
	// so, and under others it is that which the trace has for the job.
	//
	// Default: the trace's, or `first_batch`.
	//
	//	batch = 512
	Batch int `arg:"batch" min:"1" max:"1073741824"`
	// The most GPUs that the job can use.
	//
	// Default: what its batch allows.
	//
	//	max_gpus = 8
	MaxGPUs int `arg:"max_gpus" min:"1" max:"threads"`
	// The time to whose multiples tfexp rounds the ends of epochs, as simulators with time steps do. An epoch that ends
	// just after the start of a round has not ended when the policy decides about that round.
	//
	// Default: 1ns.
	//
	//	resolution = "1s"
	Resolution time.Duration `arg:"resolution"`
	// The batch size that the program was tuned for, which is also the smallest, in samples.
	//
	// Default: the least that was recorded.
	//
	//	first_batch = 128
	FirstBatch int `arg:"first_batch" min:"1" max:"1073741824"`
	// The greatest batch size, in samples.
	//
	// Default: the greatest that was recorded, or `first_batch`.
	//
	//	max_batch = 4096
	MaxBatch int `arg:"max_batch" min:"1" max:"1073741824"`
	// The smallest batch of one GPU, in samples.
	//
	// Default: the least that was measured, or 1.
	//
	//	min_per_gpu = 8
	MinPerGPU int `arg:"min_per_gpu" min:"1" max:"1073741824"`
	// The largest batch of one GPU, in samples. A larger batch is made of several gradients that are added up.
	//
	// Default: the most that was measured, or `max_batch`.
	//
	//	max_per_gpu = 256
	MaxPerGPU int `arg:"max_per_gpu" min:"1" max:"1073741824"`
	// The part of a gradient's time that does not depend on the batch, in seconds.
	//
	// Default: 0.
	//
	//	alpha_c = 0.012
	AlphaC float64 `arg:"alpha_c" min:"0" max:"1000000"`
	// The time of a gradient for each sample, in seconds.
	//
	// Default: 0.
	//
	//	beta_c = 0.0035
	BetaC float64 `arg:"beta_c" min:"0" max:"1000000"`
	// The time to average gradients over 2 GPUs of a node, in seconds.
	//
	// Default: 0.
	//
	//	alpha_r = 0.02
	AlphaR float64 `arg:"alpha_r" min:"0" max:"1000000"`
	// The time that each further GPU adds to `alpha_r`, in seconds.
	//
	// Default: 0.
	//
	//	beta_r = 0.001
	BetaR float64 `arg:"beta_r" min:"0" max:"1000000"`
	// The time to average gradients over 2 GPUs on two nodes, in seconds.
	//
	// Default: 0.
	//
	//	alpha_n = 0.06
	AlphaN float64 `arg:"alpha_n" min:"0" max:"1000000"`
	// The time that each further GPU adds to `alpha_n`, in seconds.
	//
	// Default: 0.
	//
	//	beta_n = 0.004
	BetaN float64 `arg:"beta_n" min:"0" max:"1000000"`
	// How much computing and averaging gradients overlap: 1 means not at all, greater is more.
	//
	// Default: 1.
	//
	//	gamma = 2.5
	Gamma float64 `arg:"gamma" min:"1" max:"10"`
	// The square of the norm of the gradient.
	//
	//	gradient_square = 0.002
	GradientSquare float64 `arg:"gradient_square" min:"0" max:"1e+18"`
	// The variance of the gradient over batches of `first_batch`.
	//
	//	gradient_variance = 0.05
	GradientVariance float64 `arg:"gradient_variance" min:"0" max:"1e+18"`
	// The number of samples in an epoch.
	//
	//	samples = 50000
	Samples int `arg:"samples" min:"1" max:"1099511627776"`
}

// decoder reads the files of elastic blocks.
type decoder struct{ *language.Decoder }

// Files and programs that are read only once.
type (
	archiveKey  string
	programKey  string
	readProgram struct {
		program *goodput.MeasuredProgram
		err     error
	}
)

// packed is an archive that was read, or the error why it could not be read.
type packed struct {
	goodput.Archive
	digest string
}

// The arguments that belong to only one of the two ways to describe a program.
var (
	lawArgs = []string{
		"alpha_c", "beta_c", "alpha_n", "beta_n", "alpha_r", "beta_r", "gamma",
		"gradient_square", "gradient_variance", "samples",
	}
	// lawNeeds are the required arguments of a law.
	lawNeeds = []string{"gradient_square", "gradient_variance", "samples", "first_batch"}
)

//go:embed decode.go
var source embed.FS

var _ = schema.Document("elastic", source)

func init() {
	language.RegisterRunTimeLaw(language.RunTimeLaw{
		Name: "elastic", Reads: []string{"gpu_rate"}, Decode: decode,
		Doc: "an `elastic` block describes how fast a job trains when its GPUs change",
		Block: func() *schema.Block {
			return schema.BlockFor[elasticArgs](schema.Block{Name: "elastic", Single: true})
		},
	})
}

// decode decodes an elastic block.
func decode(
	from *language.Decoder, n *eval.Node, around language.Block, j *experiment.Job, into *experiment.Runtime,
) bool {
	var v elasticArgs
	d := decoder{from}
	a := d.Decode(n, around.Env, &v)
	contradictions(n, a, j)
	out := &Elastic{
		Batch: v.Batch, MostGPUs: v.MaxGPUs,
		Resolution: v.Resolution, Range: eval.RangeOf(n.Header),
	}
	settings := goodput.MeasuredSettings{Epochs: j.Epochs, Limits: goodput.Limits{
		First: v.FirstBatch, Most: v.MaxBatch,
		Least: v.MinPerGPU, Greatest: v.MaxPerGPU,
	}}
	if a.IsSet("measurements") {
		d.measuredProgram(a, &v, j, settings, out)
	} else {
		lawful(a, &v, j, settings, out)
	}
	if !a.OK || !around.OK || out.Program == nil {
		return false
	}
	if most := out.Program.Limits.Most; out.Batch > most {
		a.Fail(a.At("batch"), "Value out of range",
			"batch is %d, but must be at most %d, the greatest batch size.", out.Batch, most)
		return false
	}
	out.Source += fmt.Sprintf(", batch %d, at most %d GPUs, ends of epochs are rounded to %s", out.Batch, out.MostGPUs, out.Resolution)
	if rates := into.GPURates; len(rates) > 0 {
		out.Rates = map[string]float64{}
		for _, r := range rates {
			out.Rates[r.Type] = r.Rate
		}
		out.Source += fmt.Sprintf(", rates %v", rates)
	}
	into.Whole, into.GPURates, into.Parts = true, nil, append(into.Parts, out)
	into.Epoch = workload.Span{Kind: workload.Every, Mean: 1} // unused: an elastic job takes as long as its course
	return true
}

// contradictions reports arguments of the job that an elastic job cannot have.
func contradictions(n *eval.Node, a *eval.Args, j *experiment.Job) {
	switch {
	case j.RunsAsSeveralPrograms():
		a.Fail(n.Header, "Contradicting blocks", "A job with roles has fixed parts, so it cannot be elastic.")
	case j.Malleable:
		a.Fail(n.Header, "Contradicting arguments",
			"A malleable job changes its cores, an elastic job its GPUs: remove one of the two.")
	case j.Epochs == 0:
		a.Fail(n.Header, "Job without epochs",
			"An elastic block describes the time of epochs: give the work of the job as epochs.")
	case j.GPUs == 0:
		a.Fail(n.Header, "Job without GPUs",
			"An elastic job trains on GPUs: give the number that it requests as gpus.")
	}
}

// lawful returns a program whose speed follows the law of Pollux.
func lawful(a *eval.Args, v *elasticArgs, j *experiment.Job, s goodput.MeasuredSettings, out *Elastic) {
	missing := slices.DeleteFunc(slices.Clone(lawNeeds), func(name string) bool { return !a.Lacks(name) })
	if len(missing) > 0 && !a.Node.Broken {
		a.Fail(a.Node.Header, "Missing argument", "%s needs measurements, or %s.", a.Node.Title(), schema.AllOf(missing))
		return
	}
	a.Unread("{} belongs to measurements, which is not set.", "program")
	if !a.OK {
		return
	}
	params := goodput.Params{
		AlphaC: v.AlphaC, BetaC: v.BetaC, AlphaN: v.AlphaN, BetaN: v.BetaN, AlphaR: v.AlphaR, BetaR: v.BetaR,
		Gamma: max(v.Gamma, 1),
	}
	noise := goodput.Noise{Square: v.GradientSquare, Variance: v.GradientVariance}
	l := &s.Limits
	l.Most = max(l.Most, l.First)
	if a.IsSet("max_batch") {
		l.Most = v.MaxBatch
	}
	l.Least = max(l.Least, 1)
	l.Greatest = cmp.Or(l.Greatest, l.Most)
	var err error
	if out.Program, err = goodput.ByLaw(j.Name, params, noise, v.Samples, s); err != nil {
		a.Fail(a.Node.Header, "Arguments that do not fit together", "%s", language.Sentence(err.Error()))
		return
	}
	out.Source = fmt.Sprintf("law %+v, noise %+v, %d samples, %+v", params, noise, v.Samples, s)
}

// measuredProgram returns a program whose speed follows measurements.
func (d decoder) measuredProgram(
	a *eval.Args, v *elasticArgs, j *experiment.Job, s goodput.MeasuredSettings, out *Elastic,
) {
	a.Excludes("measurements and {} both set how fast the job trains: keep one.", lawArgs...)
	if !a.OK {
		return
	}
	from, name := d.Find(v.Measurements), j.Name
	if a.IsSet("program") {
		name = v.Program
	}
	key := fmt.Sprintf("%s %s %+v", from.Path, name, s)
	folder, digest, ok := d.folder(a, &from, name)
	if !ok {
		return
	}
	out.Source = fmt.Sprintf("%s of %s, %+v", name, digest, s)
	one := language.Once(d.Decoder, programKey(key), func() readProgram {
		p, err := goodput.ReadMeasured(folder, name, s)
		return readProgram{p, err}
	})
	if one.err != nil {
		d.unreadable(a, from, one.err)
	}
	out.Program = one.program
}

// folder opens the folder with a program's measurements, in an archive or on the disk. It also returns their digest.
func (d decoder) folder(a *eval.Args, from *language.Input, name string) (fs.FS, string, bool) {
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
		a.Wrong(at, schema.Nearest(name, names), "Unknown program",
			"%s has no measurements of %q; it has %s.", from.Shown, name,
			strings.Join(names, ", "))
		return nil, "", false
	}
	return folder, all.digest, true
}

// archive reads an archive. Each archive is read only once.
func (d decoder) archive(a *eval.Args, from language.Input) (*packed, bool) {
	all := language.Once(d.Decoder, archiveKey(from.Path), func() *packed {
		all := &packed{}
		digest, ok := datafile.Read(d.Decoder, a, a.At("measurements"), from, func(r io.Reader) (err error) {
			all.Archive, err = goodput.Unpack(r)
			return err
		})
		if !ok {
			all.Archive = nil
		}
		all.digest = "sha256:" + digest
		return all
	})
	a.OK = a.OK && all.Archive != nil
	return all, all.Archive != nil
}

// unreadable reports a mistake in measurements, at its line if it is known.
func (d decoder) unreadable(a *eval.Args, from language.Input, err error) {
	a.OK = false
	var row *goodput.RowError
	if info, statErr := os.Stat(from.Path); errors.As(err, &row) && statErr == nil && info.IsDir() {
		datafile.LineError(d.Finder,
			language.Input{Path: filepath.Join(from.Path, row.File), Shown: filepath.Join(from.Shown, row.File)},
			row.Line,
			"Malformed line", language.Sentence(row.Err.Error()))
		return
	}
	d.Errorf(a.At("measurements"), "Unreadable measurements", "%s: %v.", from.Shown, err)
}

// digestOf returns the hash of all files of a program.
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
