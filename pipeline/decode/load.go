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
	// Vars set variables, each as "name=value" (option -var). A later one overrides an earlier one, Vars override
	// VarFiles, and both override the environment.
	Vars []string
	// VarFiles are paths of files that set variables: HCL arguments, or a JSON object (.json).
	VarFiles []string
	// Lenient skips malformed lines of traces, and jobs that are larger than the hardware. A warning counts them.
	Lenient bool
	// Host has the values of host.*. Real runs are checked against them.
	Host experiments.HostFacts
	// Copy returns the saved copies of files that the source names by absolute paths.
	Copy record.Copy
}

// File reads an experiment file, in HCL syntax or, if its name ends in .json, in HCL's JSON syntax. The spec is nil
// if the diagnostics have an error.
func File(path string, opts Options) (*experiment.Spec, experiments.Diagnostics) {
	src, err := eval.ReadSource(path)
	if err != nil {
		return nil, failure(path, "Cannot read the experiment", err)
	}
	return Source(path, src, opts)
}

// failure returns an error that concerns a file as a whole.
func failure(file, summary string, err error) experiments.Diagnostics {
	return experiments.Diagnostics{experiments.ErrorAt(experiments.Range{File: file}, summary, "%v.", err)}
}

// Source is like File for a source in memory. The name of the file determines the syntax and the folder of relative
// paths.
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

// Format rewrites a source in the canonical layout. If the source has syntax errors, Format returns diagnostics
// instead.
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
