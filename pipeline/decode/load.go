package decode

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/pipeline/check"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Options are the inputs from outside the file.
type Options struct {
	// Vars are values of variables, "name=value", as -var takes them. They win
	// over VarFiles, later ones over earlier ones, and all over the environment.
	Vars []string
	// VarFiles are files of HCL arguments, or JSON objects (.json).
	VarFiles []string
	// Lenient leaves out malformed lines of traces, and jobs that are larger than
	// the hardware, with a warning that counts them.
	Lenient bool
	// Host has the facts for host.*, and for the checks of real runs.
	Host experiments.HostFacts
	// Copy has copies of files that the source names by absolute paths.
	Copy record.Copy
}

// File reads the experiment in a file, in HCL's native syntax or, when the
// name ends in .json, in its JSON syntax. The spec is nil when the diagnostics
// have an error.
func File(path string, opts Options) (*experiment.Spec, experiments.Diagnostics) {
	src, err := eval.ReadSource(path)
	if err != nil {
		return nil, failure(path, "Cannot read the experiment", err)
	}
	return Source(path, src, opts)
}

// failure is an error about a file as a whole.
func failure(file, summary string, err error) experiments.Diagnostics {
	return experiments.Diagnostics{experiments.ErrorAt(experiments.Range{File: file}, summary, "%v.", err)}
}

// Source is like File for a source in memory. The file name decides the syntax,
// and the folder at which relative paths in the source begin.
func Source(filename string, src []byte, opts Options) (*experiment.Spec, experiments.Diagnostics) {
	r := eval.NewReporter()
	root := r.Parse(filename, src, Language())
	if root == nil {
		r.List.Sort()
		return nil, r.List
	}
	global, variables := r.Globals(root, eval.Outside{Vars: opts.Vars, VarFiles: opts.VarFiles, Host: opts.Host})
	d := &Decoder{
		Decoder: language.NewDecoder(language.Finder{Reporter: r, Filename: filename, Dir: base(filename), Named: new([]string),
			Copy: opts.Copy}, root, global),
	}
	d.Lenient, d.Host, d.Blocks = opts.Lenient, opts.Host, d
	spec := d.Experiment()
	spec.File, spec.Source, spec.Variables, spec.Sensitive = filename, src, variables, r.Sensitive()
	d.expand(spec)
	c := check.New(r, spec, opts.Host)
	c.WeighAlternatives(spec.Cells)
	d.CheckCells(spec)
	d.Views(spec)
	if !r.Failed() {
		c.Warnings(root)
	}
	c.Cells()
	r.List.Sort()
	if r.Failed() {
		return nil, r.List
	}
	spec.Inputs = *d.Named
	return spec, r.List
}

// Format rewrites a source in the canonical layout. A source with a syntax
// error is refused, with the diagnostics that say why.
func Format(filename string, src []byte) ([]byte, experiments.Diagnostics) {
	r := eval.NewReporter()
	if r.ParseFile(filename, src) == nil {
		r.List.Sort()
		return nil, r.List
	}
	if !strings.HasSuffix(filename, ".json") {
		return hclwrite.Format(src), nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(src), "", "  "); err != nil {
		return nil, failure(filename, "Invalid JSON", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
