// Package formats reads and writes workloads as files: traces of clusters, and input of other simulators. Each
// format is in one file of this package, or in a separate package, and registers a Format. The language, its
// documentation and commands use the registry.
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
	// Name is the name of the format in experiments: trace { format = "swf" }.
	Name string
	// Rank is the position of the format in lists, from 1 on. Formats without a rank come last, ordered by name.
	Rank int
	// Doc describes the format in the language reference, in one or more sentences: the meaning of a line, of the
	// class and the user of a job, and the omissions.
	Doc string
	// Endings are endings of file names by which the format is recognized, with their point, in lower case. An
	// ending such as .gz may follow. A format without endings must be named.
	Endings []string
	// Begins reports whether the first line of a file shows that the file has this format; nil if first lines do not
	// show it.
	Begins func(line string) bool
	// Args are the arguments of a trace block that only some formats read. Formats that share an argument must
	// declare it equally.
	Args []schema.Arg
	// Holds are the facts about a job that a file can have, in addition to its name, class, arrival and threads.
	// Other facts come from the job blocks.
	Holds Facts
	// FromJobBlocks are facts that files cannot have, because they always come from job blocks. Write omits them
	// without an error.
	FromJobBlocks Facts
	// NeedsRunTimes says that files have the run time of every job.
	NeedsRunTimes bool
	// Reader reads a file. An error in a line is a textfile.LineError. Up to textfile.MaxErrors of them are joined;
	// a lenient reader skips the lines.
	Reader func(file string, r io.Reader, o Options) (workload.Trace, error)
	// Writer writes a workload that has only facts which the format can hold. Reading the output and writing it
	// again gives the same bytes. Writer is nil if tfexp cannot write this format; it can only read it.
	Writer func(w io.Writer, t workload.Trace) error
}

// Options are options for reading a file. The zero value has the defaults.
type Options struct {
	// Lenient says that malformed lines are skipped.
	Lenient bool
	// Args has the values of the format's arguments, by name. Each has the Go type of its schema type: time.Duration
	// for schema.Duration, bool for schema.Bool. Arguments without a value are left out.
	Args map[string]any
}

// ArgError is a mistake in an argument of a trace block that only the file shows.
type ArgError struct {
	Arg string
	Err error
}

func (e *ArgError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ArgError) Unwrap() error { return e.Err }

// Option returns the value of an argument, or standard if it has no value.
func Option[T any](o Options, name string, standard T) T {
	if v, ok := o.Args[name].(T); ok {
		return v
	}
	return standard
}

// UnitArg is the argument of formats whose times can have any unit.
var UnitArg = schema.Arg{
	Name: "unit", Type: schema.Duration, Default: `"1s"`, Positive: true,
	Doc: "The unit of the times in the file.", Example: `"1ms"`,
}

// Unit returns the value of UnitArg.
func (o Options) Unit() time.Duration { return Option(o, UnitArg.Name, time.Second) }

var registry = schema.NewRegistry("formats: format", func(f *Format) string { return f.Name },
	func(f *Format) int { return f.Rank })

// Register registers a format, and returns it. It panics if the name or an ending is taken, or another format has a
// different argument with the same name.
func Register(f *Format) *Format {
	if f.Doc == "" || f.Reader == nil {
		panic(fmt.Sprintf("formats: %q has no documentation or no reader", f.Name))
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

// All returns the registered formats, in the order of lists.
func All() []*Format { return registry.All() }

// Names returns the names of formats.
func Names(list []*Format) []string {
	return schema.Each(list, func(f *Format) string { return f.Name })
}

// Writable returns the formats that can be written, in the order of lists.
func Writable() []*Format {
	return slices.DeleteFunc(All(), func(f *Format) bool { return f.Writer == nil })
}

// Find returns the format with a name, or nil.
func Find(name string) *Format {
	f, _ := registry.Find(name)
	return f
}

// packedEndings are endings of the names of compressed files.
var packedEndings = []string{".gz", ".bz2", ".xz", ".zst"}

// Of returns the format of a file by the ending of its name, which may have a further ending such as .gz. It returns
// nil if the name does not show the format.
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

// Beginning returns the format of a file by its first line; nil if the line does not show it.
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

// MarshalText implements encoding.TextMarshaler with the name.
func (f *Format) MarshalText() ([]byte, error) { return []byte(f.Name), nil }

// WriteAll writes all facts of a trace, in the format CSV, whatever the format of its file was.
func (*Format) WriteAll(w io.Writer, t workload.Trace) error { return WriteCSV(w, t) }

// Complete reports whether the format can hold all facts of a workload.
func (f *Format) Complete() bool { return f.Holds == Everything }

// Arg is an argument of a trace block, and the formats that read it.
type Arg struct {
	schema.Arg
	Formats []*Format
}

// Args returns the arguments of all formats. An argument of several formats occurs once.
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

// ErrCannotHold is wrapped by errors about a fact of a workload that a format cannot hold.
var ErrCannotHold = errors.New("the format cannot hold it")

// Write writes a workload. The error wraps ErrCannotHold if the format cannot hold a fact of the workload.
func (f *Format) Write(w io.Writer, t workload.Trace) error {
	if f.Writer == nil {
		return fmt.Errorf("write workload as %s: tfexp cannot write this format; it can only read it", f)
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
