package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Variables are the flags for reading an experiment.
type Variables struct {
	values []string // name=value
	files  []string
	// lenient leaves out malformed lines of traces.
	lenient bool
}

// Flags registers the flags.
func (v *Variables) Flags(fs *pflag.FlagSet) {
	v.ValueFlags(fs)
	fs.BoolVar(&v.lenient, "lenient", false, "leave out malformed lines of traces, and jobs larger than the hardware")
}

// ValueFlags registers the flags that set variables.
func (v *Variables) ValueFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&v.values, "var", nil, "set a variable, as `name=value` (also -var; may be repeated)")
	fs.StringArrayVar(&v.files, "var-file", nil,
		"read variables from a `FILE` of name = value lines (also -var-file; may be repeated)")
}

// Given returns the values of the flags, as decode.Options has them.
func (v *Variables) Given() (values, files []string) { return v.values, v.files }

// Checked is validate --json.
type Checked struct {
	Valid       bool                    `json:"valid"`
	Diagnostics experiments.Diagnostics `json:"diagnostics"`
}

// Read reads an experiment as it would run on this machine.
func (v *Variables) Read(file string) (*experiment.Spec, experiments.Diagnostics) {
	return decode.File(file, decode.Options{Vars: v.values, VarFiles: v.files, Lenient: v.lenient, Host: HostFacts()})
}

// Load reads an experiment and prints its diagnostics; toRun reports whether
// its jobs run on this machine now. The error it returns is silent.
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

// besideSource is the room that a source line leaves for its number, and for the marks that show a cut.
const besideSource = 16

// Diagnose prints diagnostics, as wide as the terminal.
func (a *App) Diagnose(diags experiments.Diagnostics) {
	if columns, ok := show.Columns(a.Err); ok {
		diags = diags.Within(max(columns-besideSource, besideSource))
	}
	diags.Render(a.Err, a.ErrColor)
}

// Invalid returns the exit status for an experiment with errors: an experiment
// that only needs hardware which this machine lacks is not invalid.
func Invalid(diags experiments.Diagnostics) int {
	if diags.OnlyUnavailable() {
		return ExitUnavailable
	}
	return ExitInvalid
}

// SuggestFile suggests a file when the named one does not exist.
func (a *App) SuggestFile(file string) {
	if Exists(file) {
		return
	}
	if near := schema.Nearest(file, ExperimentFiles(filepath.Dir(file))); near != "" {
		fmt.Fprintf(a.Err, "  did you mean %q?\n", near)
	}
}

// HostFacts is this machine as host.* shows it to experiments.
func HostFacts() experiments.HostFacts {
	m := hardware.Host()
	return experiments.HostFacts{
		Threads: m.Threads, Cores: m.Cores, MemoryBytes: m.MemoryBytes,
		OS: m.OS, Arch: m.Arch, CPUModel: m.CPUModel, Name: m.Name, GPUs: m.GPUs, GPUType: m.GPUType, NoGPUs: m.NoGPUs,
	}
}

// Write writes to a file that the command line names. An existing file is replaced only when all is written. It
// keeps its permissions, and a link to it stays a link. A device or a pipe, such as /dev/null or the >(...) of a
// shell, is written to and never replaced.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeInto(path, write)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	mode := os.FileMode(0o644)
	if err == nil {
		mode = info.Mode().Perm()
	}
	return folder.WriteFrom(path, mode, write)
}

// writeInto writes to a device or a pipe.
func writeInto(path string, write func(io.Writer) error) error {
	// Without O_NONBLOCK, opening a pipe without a reader would block.
	f, err := folder.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return Usagef("", "nothing reads %s", path)
	} else if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write to %s: %w", path, err)
	}
	return nil
}

// OpenFile opens a file that the command line names. A folder, a device and a pipe with a name are wrong usage: a
// device need not end, and a pipe may never begin. /dev/stdin and the <(...) of a shell are read.
func OpenFile(path string) (*folder.File, error) {
	if slices.Contains([]string{"/dev/fd", "/proc/self/fd"}, filepath.Dir(path)) || path == "/dev/stdin" {
		return folder.OpenFile(path, os.O_RDONLY, 0)
	}
	// Without O_NONBLOCK, opening a pipe without a writer would block.
	f, err := folder.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("", "there is no file %s", path)
	} else if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, err
	case info.IsDir():
		f.Close()
		return nil, Usagef("", "%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		f.Close()
		return nil, Usagef("to read what another program prints, use /dev/stdin or <(PROGRAM)",
			"%s is neither a file nor a folder", path)
	}
	return f, nil
}

// Summed draws views in an experiment's folder and updates its SHA256SUMS. While a run writes into the folder, the run
// updates them at its end.
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
