package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/load"
	"github.com/tfexp/tfexp/hardware"
)

// variables are the flags that say how an experiment is read.
type variables struct {
	values []string // name=value
	files  []string
	// lenient leaves out malformed lines of traces.
	lenient bool
}

func (v *variables) flags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&v.values, "var", nil, "set a variable, as `name=value` (also -var; may be repeated)")
	fs.StringArrayVar(&v.files, "var-file", nil,
		"read variables from a `FILE` of name = value lines (also -var-file; may be repeated)")
	fs.BoolVar(&v.lenient, "lenient", false, "leave out malformed lines of traces, and jobs larger than the hardware")
}

// checked is validate --json.
type checked struct {
	Valid       bool                    `json:"valid"`
	Diagnostics experiments.Diagnostics `json:"diagnostics"`
}

// read reads an experiment as it would run on this machine.
func (v *variables) read(file string) (*experiments.Spec, experiments.Diagnostics) {
	return load.File(file, load.Options{Vars: v.values, VarFiles: v.files, Lenient: v.lenient, Host: hostFacts()})
}

// load reads an experiment and prints its diagnostics. The error it returns is
// silent.
func (a *app) load(file string, v *variables, asJSON bool) (*experiments.Spec, error) {
	spec, diags := v.read(file)
	valid := !diags.HasErrors()
	if !valid && asJSON {
		if err := a.printJSON(checked{Diagnostics: diags}); err != nil {
			return nil, err
		}
	} else if len(diags) > 0 {
		diags.Render(a.err, a.errColor)
	}
	if !valid {
		a.suggestFile(file)
		return nil, silently(invalid(diags))
	}
	return spec, nil
}

// invalid returns the exit status for an experiment with errors: an experiment
// that only needs hardware which this machine lacks is not invalid.
func invalid(diags experiments.Diagnostics) int {
	if diags.OnlyUnavailable() {
		return exitUnavailable
	}
	return exitInvalid
}

// suggestFile suggests a file when the named one does not exist.
func (a *app) suggestFile(file string) {
	if exists(file) {
		return
	}
	if near := nearest(file, experimentFiles(filepath.Dir(file))); near != "" {
		fmt.Fprintf(a.err, "  did you mean %q?\n", near)
	}
}

// hostFacts is this machine as host.* shows it to experiments.
func hostFacts() experiments.HostFacts {
	m := hardware.Host()
	return experiments.HostFacts{
		Threads: m.Threads, Cores: m.Cores, MemoryBytes: m.MemoryBytes,
		OS: m.OS, Arch: m.Arch, CPUModel: m.CPUModel, Name: m.Name, GPUs: m.GPUs, GPUType: m.GPUType, NoGPUs: m.NoGPUs,
	}
}
