// Package formats reads and writes workloads as files: traces of clusters, and
// the inputs of other simulators. Each format is one file of this package, or a
// separate package, that registers a Format; the language of experiments, its
// documentation and the command find it in the registry.
package formats

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Format is a file format for workloads.
type Format struct {
	// Name is the name that users write: trace { format = "swf" }.
	Name string
	// Rank orders the formats in lists. Those without a rank come last, by name.
	Rank int
	// Doc describes the format in the reference of the language, in one or more
	// sentences: the meaning of a line, the class and user of a job, and omissions.
	Doc string
	// Endings are the endings of file names, with their point and in lower case,
	// by which the format is recognized; behind them may be .gz and the like. A format without
	// any must be named.
	Endings []string
	// Begins reports whether a file begins as files of this format do, whatever its name; nil where that cannot be said.
	Begins func(line string) bool
	// Args are the arguments of a trace block that this format reads, besides
	// the arguments of every format. Formats that share an argument declare
	// the same one.
	Args []schema.Arg
	// Holds has the facts about a job that a file can have, besides its name,
	// its class, its arrival and its threads. All other facts come from the job
	// blocks.
	Holds Facts
	// FromJobBlocks are facts that the file does not hold, but that the job blocks
	// with which it is always used do. Write leaves them out without an error.
	FromJobBlocks Facts
	// NeedsRunTimes formats have the run time of every job.
	NeedsRunTimes bool
	// Reader reads a file. A mistake in a line is a textfile.LineError, in an error
	// that joins up to textfile.MaxErrors of them; a lenient reader skips it.
	Reader func(file string, r io.Reader, o Options) (workload.Trace, error)
	// Writer writes a workload whose facts the format can all hold; nil if the
	// format can only be read. Reading the output and writing it again gives the
	// same bytes.
	Writer func(w io.Writer, t workload.Trace) error
}

// Options say how a file is read. The zero value is usable.
type Options struct {
	// Lenient leaves out malformed lines instead of failing.
	Lenient bool
	// Args are the values of the format's arguments, by name, in the Go types of
	// package decode: time.Duration for a schema.Duration, bool for a
	// schema.Bool. An argument without a value is absent.
	Args map[string]any
}

// ArgError is a mistake in an argument of a trace block that becomes visible in the file.
type ArgError struct {
	Arg string
	Err error
}

func (e *ArgError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the place.
func (e *ArgError) Unwrap() error { return e.Err }

// Option returns the value of an argument, or standard when it has none.
func Option[T any](o Options, name string, standard T) T {
	if v, ok := o.Args[name].(T); ok {
		return v
	}
	return standard
}

// UnitArg is an argument of formats whose times may have any unit.
var UnitArg = schema.Arg{
	Name: "unit", Type: schema.Duration, Default: `"1s"`, Positive: true,
	Doc: "The unit of the times in the file.", Example: `"1ms"`,
}

// Unit returns the value of UnitArg.
func (o Options) Unit() time.Duration { return Option(o, UnitArg.Name, time.Second) }

var registry = schema.NewRegistry("formats: format", func(f *Format) string { return f.Name },
	func(f *Format) int { return f.Rank })

// Register adds a format. It panics when the name or an ending is taken, or an argument differs from another format's
// argument of that name.
func Register(f *Format) *Format {
	if f.Doc == "" || f.Reader == nil {
		panic(fmt.Sprintf("formats: %q needs a documentation and a reader", f.Name))
	}
	for _, other := range registry.All() {
		for _, ending := range f.Endings {
			if slices.Contains(other.Endings, ending) {
				panic(fmt.Sprintf("formats: %q and %q have the ending %s", other.Name, f.Name, ending))
			}
		}
		for _, a := range f.Args {
			if b := schema.Find(other.Args, a.Name); b != nil && (b.Type != a.Type || b.Default != a.Default || b.Doc != a.Doc) {
				panic(fmt.Sprintf("formats: the argument %q of %q differs from that of %q", a.Name, f.Name, other.Name))
			}
		}
	}
	return registry.Add(f)
}

// All returns the formats in the order of lists.
func All() []*Format { return registry.All() }

// Names returns the names of formats.
func Names(list []*Format) []string {
	return schema.Each(list, func(f *Format) string { return f.Name })
}

// Writable returns the formats that can be written, in the order of lists.
func Writable() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.Writer == nil })
}

// Find returns the format of that name, or nil.
func Find(name string) *Format {
	f, _ := registry.Find(name)
	return f
}

// packedEndings are the endings of the names of packed files.
var packedEndings = []string{".gz", ".bz2", ".xz", ".zst"}

// Of recognizes the format of a file by its name, which may end as those of packed files do. It
// returns nil when the name does not show the format.
func Of(file string) *Format {
	name := strings.ToLower(file)
	ending := filepath.Ext(name)
	if slices.Contains(packedEndings, ending) {
		ending = filepath.Ext(strings.TrimSuffix(name, ending))
	}
	for _, f := range registry.All() {
		if slices.Contains(f.Endings, ending) {
			return f
		}
	}
	return nil
}

// Beginning recognizes the format of a file by its first line. It returns nil when that does not show the format.
func Beginning(line string) *Format {
	for _, f := range registry.All() {
		if f.Begins != nil && f.Begins(line) {
			return f
		}
	}
	return nil
}

// String returns the name.
func (f *Format) String() string { return f.Name }

// MarshalText returns the name.
func (f *Format) MarshalText() ([]byte, error) { return []byte(f.Name), nil }

// WriteAll writes all that a trace says in the format CSV, whatever the format of its file.
func (*Format) WriteAll(w io.Writer, t workload.Trace) error { return WriteCSV(w, t) }

// Complete reports whether the format holds all that a workload has.
func (f *Format) Complete() bool { return f.Holds == Everything }

// Arg is an argument of a trace block with the formats that read it.
type Arg struct {
	schema.Arg
	Formats []*Format
}

// Args returns the arguments of all formats, each once.
func Args() []Arg {
	var args []Arg
	for _, f := range registry.All() {
		for _, a := range f.Args {
			i := slices.IndexFunc(args, func(b Arg) bool { return b.Name == a.Name })
			if i < 0 {
				i = len(args)
				args = append(args, Arg{Arg: a})
			}
			args[i].Formats = append(args[i].Formats, f)
		}
	}
	return args
}

// Read reads a trace.
func (f *Format) Read(file string, r io.Reader, o Options) (workload.Trace, error) {
	t, err := f.Reader(file, r, o)
	if err != nil {
		return workload.Trace{}, fmt.Errorf("read trace as %s: %w", f, err)
	}
	return t, nil
}

// ErrCannotHold is wrapped when a workload has something that a format cannot
// hold.
var ErrCannotHold = errors.New("the format cannot hold it")

// Write writes a workload. The error wraps ErrCannotHold when the workload has
// something that the format cannot hold: no fact of a job is left out silently.
func (f *Format) Write(w io.Writer, t workload.Trace) error {
	if f.Writer == nil {
		return fmt.Errorf("write workload as %s: the format can only be read", f)
	}
	err := f.check(&t)
	if err == nil {
		err = f.Writer(w, t)
	}
	if err != nil {
		return fmt.Errorf("write workload as %s: %w", f, err)
	}
	return nil
}
