package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Variables are the values of the flags for reading an experiment.
type Variables struct {
	values []string // texts "name=value"
	files  []string
	// lenient skips malformed lines of traces.
	lenient bool
}

// Flags adds the flags to a command.
func (v *Variables) Flags(fs *pflag.FlagSet) {
	v.ValueFlags(fs)
	fs.BoolVar(&v.lenient, "lenient", false, "leave out malformed lines of traces, and jobs larger than the hardware")
}

// ValueFlags adds the flags that set variables.
func (v *Variables) ValueFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&v.values, "var", nil, "set a variable, as `name=value` (also -var; may be repeated)")
	fs.StringArrayVar(&v.files, "var-file", nil,
		"read variables from a `FILE` of name = value lines (also -var-file; may be repeated)")
}

// Given returns the values of the flags in the form of decode.Options.
func (v *Variables) Given() (values, files []string) { return v.values, v.files }

// Checked is the JSON output of validate.
type Checked struct {
	Valid       bool                    `json:"valid"`
	Diagnostics experiments.Diagnostics `json:"diagnostics"`
}

// Read reads an experiment as it would run on this machine. For the experiment file in a folder of results, the files
// that it names are read from the copies in that folder.
func (v *Variables) Read(file string) (*experiment.Spec, experiments.Diagnostics) {
	opts := decode.Options{Vars: v.values, VarFiles: v.files, Lenient: v.lenient, Host: HostFacts()}
	inputs, ok := record.CopyOf(filepath.Dir(file))
	src, err := eval.ReadSource(file)
	if err != nil || !ok || !strings.HasPrefix(filepath.Base(file), record.ExperimentFile) {
		return decode.File(file, opts)
	}
	opts.Copy = inputs
	return decode.Source(inputs.File, src, opts)
}

// Load reads an experiment and prints its diagnostics. With toRun, hardware that is unavailable now is an error. Load
// has printed the errors that it returns.
func (a *App) Load(file string, v *Variables, toRun, asJSON bool) (*experiment.Spec, error) {
	spec, diags := v.Read(file)
	if toRun {
		diags = diags.RequireAvailable()
	}
	valid := !diags.HasErrors()
	if !valid && asJSON {
		if err := a.PrintJSON(Checked{Diagnostics: diags}); err != nil {
			return nil, err
		}
	} else if len(diags) > 0 {
		a.Diagnose(diags)
	}
	if !valid {
		a.SuggestFile(file)
		return nil, Silently(Invalid(diags))
	}
	return spec, nil
}

// besideSource is the number of columns next to a source line, for the line number and the marks of a cut line.
const besideSource = 16

// Diagnose prints diagnostics in the width of the terminal.
func (a *App) Diagnose(diags experiments.Diagnostics) {
	if columns, ok := show.Columns(a.Err); ok {
		diags = diags.Within(max(columns-besideSource, besideSource))
	}
	diags.Render(a.Err, a.ErrColor)
}

// Invalid returns the exit status for an experiment with errors. An experiment whose only errors are about missing
// hardware is valid, but unavailable.
func Invalid(diags experiments.Diagnostics) int {
	if diags.OnlyUnavailable() {
		return ExitUnavailable
	}
	return ExitInvalid
}

// SuggestFile prints the experiment file with the most similar name if file does not exist.
func (a *App) SuggestFile(file string) {
	if Exists(file) {
		return
	}
	if near := schema.Nearest(file, ExperimentFiles(filepath.Dir(file))); near != "" {
		fmt.Fprintf(a.Err, "  did you mean %q?\n", near)
	}
}

// HostFacts returns the facts about this machine that experiments read as host.*.
func HostFacts() experiments.HostFacts {
	m := hardware.Host()
	return experiments.HostFacts{
		Threads: m.Threads, Cores: m.Cores, MemoryBytes: m.MemoryBytes,
		OS: m.OS, Arch: m.Arch, CPUModel: m.CPUModel, Name: m.Name, GPUs: m.GPUs, GPUType: m.GPUType, NoGPUs: m.NoGPUs,
	}
}

// Summed calls draw, which writes pictures or reports into an experiment's folder, and updates SHA256SUMS. If a run is
// writing into the folder, the run updates the sums at its end.
func Summed(dir string, draw func() ([]string, error)) ([]string, error) {
	if _, err := folder.Stat(dir, record.SumsFile); err != nil {
		return draw()
	}
	sums, err := record.BeginSums(dir)
	if err != nil {
		return nil, err
	}
	paths, err := draw()
	return paths, errors.Join(err, sums.Close())
}
