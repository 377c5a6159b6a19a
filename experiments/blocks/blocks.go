// Package blocks decodes the blocks of a file, one file of code for each kind of
// block: arguments that were evaluated become values of package experiments.
package blocks

import (
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/controllers"
	"github.com/tfexp/tfexp/experiments/elastic"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/machines"
	"github.com/tfexp/tfexp/experiments/matrix"
	"github.com/tfexp/tfexp/experiments/parts"
)

// Decoder turns the blocks of one file into a Spec. Every method that decodes
// a block returns false when the block has an error (which is reported) or
// depends on something that has.
type Decoder struct {
	files.Finder
	root    *eval.Node
	global  *eval.Env
	lenient bool
	host    experiments.HostFacts
	traces  map[string]*traceFile            // by what is read and how
	shown   map[*experiments.Trace]*rawTrace // where the traces of cells are from
	tables  map[string]*measured             // of recorded outcomes, by file and rows
	elastic *elastic.Decoder
}

// New returns what decodes the blocks of a file that has been parsed.
func New(
	r *eval.Reporter, root *eval.Node, global *eval.Env, filename string, host experiments.HostFacts, lenient bool,
) *Decoder {
	finder := files.Finder{Reporter: r, Filename: filename, Dir: folder(filename)}
	return &Decoder{
		Finder: finder, root: root, global: global, lenient: lenient, host: host, elastic: elastic.New(finder),
		traces: map[string]*traceFile{}, shown: map[*experiments.Trace]*rawTrace{},
		tables: map[string]*measured{},
	}
}

// Experiment decodes the blocks that are no part of a cell, as far as they do
// not depend on the cells.
func (d *Decoder) Experiment() *experiments.Spec {
	s := &experiments.Spec{Lenient: d.lenient, Profile: d.profile(), Estimate: d.estimate(), Stages: d.stages()}
	if n := d.root.First("experiment"); n != nil {
		a := d.EvalArgs(n, d.global)
		s.Name, s.Range = n.Label, eval.RangeOf(n.Header)
		s.Description = eval.Get[string](a, "description")
		s.Seed = int64(eval.Get[int](a, "seed"))
		s.Replicates = eval.Get[int](a, "replicates")
		s.Records = eval.Get[string](a, "records")
		s.Until = eval.Get[time.Duration](a, "until")
	}
	for _, one := range d.controllers().Adaptations(d.root, d.global) {
		s.Adaptations, s.Deepened = append(s.Adaptations, one.Study), append(s.Deepened, one.Cells)
	}
	return s
}

// parts returns the decoder of jobs with parts.
func (d *Decoder) parts() parts.Decoder { return parts.Decoder{Finder: d.Finder} }

// controllers returns the decoder of what decides beside jobs.
func (d *Decoder) controllers() *controllers.Decoder {
	return &controllers.Decoder{
		Finder: d.Finder,
		Job: func(name string) (*experiments.Job, bool) {
			n := d.root.Find("job", name)
			if n == nil {
				return nil, false // which has been reported
			}
			return d.Job(n, d.global)
		},
		Hardware: func(name string) (*experiments.Hardware, bool) {
			n := d.root.Find("hardware", name)
			if n == nil {
				return nil, false
			}
			return d.Hardware(n, d.global)
		},
	}
}

// Hardware decodes a hardware block.
func (d *Decoder) Hardware(n *eval.Node, e *eval.Env) (*experiments.Hardware, bool) {
	host, _ := d.global.Lookup("host")
	threads, _ := host.GetAttr("threads").AsBigFloat().Int64()
	m := machines.Decoder{Finder: d.Finder, Host: d.host, Threads: int(threads)}
	return m.Hardware(n, e)
}

// Tune decodes a tune block, but for the cells of its trials.
func (d *Decoder) Tune(n *eval.Node, e *eval.Env) (*matrix.Tune, bool) {
	return d.controllers().Tune(n, e)
}

// Views decodes what is asked of the cells: comparisons, pictures, thresholds.
func (d *Decoder) Views(s *experiments.Spec) {
	s.Compares = d.compares(s.Cells)
	s.Plots = d.plots(s.Axes)
	s.Thresholds = d.thresholds(s.Cells)
	s.References = d.references(s)
}

// sole returns the block of that kind, or one without arguments, which has
// the defaults.
func (d *Decoder) sole(kind string) *eval.Node {
	if n := d.root.First(kind); n != nil {
		return n
	}
	s := d.root.Schema.Block(kind)
	return &eval.Node{Schema: s, Args: s.Args}
}

// folder is where relative paths of a file begin, absolute if possible.
func folder(filename string) string {
	dir := filepath.Dir(filename)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
