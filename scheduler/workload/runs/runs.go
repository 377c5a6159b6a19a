// Package runs reads tables that studies of distributed training publish: when checkpoints were evaluated, which
// servers took part, and for how long. It recognizes a table by its columns, not by the name of the file.
package runs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Run is one recorded training run.
type Run struct {
	// Group is the group in which runs are numbered, such as a zone; it may be empty. ID is the number.
	Group, ID string
	// Points are the evaluated checkpoints ordered by time, from step 0 on.
	Points []Point
	// Duration is the time from step 0 to the first checkpoint at or after the last step. Whole is false if the run
	// did not reach that step; Duration then ends at its last checkpoint.
	Duration time.Duration
	Whole    bool
	// Accuracy and Loss are the values at the last checkpoint within Duration; NaN if unknown.
	Accuracy, Loss float64
	// Servers are the servers of the run. Known reports whether the table says which of them were revoked.
	Servers []Server
	Known   bool
	// Cost is in dollars; NaN if unknown.
	Cost float64
	// Restarted counts how often the step decreased, because training resumed from a checkpoint.
	Restarted int
}

// Point is an evaluated checkpoint.
type Point struct {
	At             time.Duration
	Step           int
	Accuracy, Loss float64 // NaN if the table does not have it
}

// Server is a server of a run.
type Server struct {
	Name    string
	Uptime  time.Duration
	Revoked bool
}

// Name returns the name of a run: "us-east1-c-run3".
func (r *Run) Name() string {
	if r.Group == "" {
		return "run" + r.ID
	}
	return r.Group + "-run" + r.ID
}

// Revocations returns the number of revoked servers; NaN if unknown.
func (r *Run) Revocations() float64 {
	if !r.Known {
		return math.NaN()
	}
	n := 0
	for _, s := range r.Servers {
		if s.Revoked {
			n++
		}
	}
	return float64(n)
}

// Options are options for reading tables.
type Options struct {
	// Columns maps facts to names of columns that differ from the names in Facts.
	Columns map[string]string
	// Steps is the last step of a whole run. If it is 0, runs end with their last row. Runs that end before 99% of
	// the largest step are then not whole.
	Steps int
	// Revoked are the values that mark a revoked server; nil means DefaultRevoked.
	Revoked []string
	// Workers and ParameterServers are the numbers of servers in a run, without those that evaluate checkpoints.
	// Workers 0 means the number in the server table.
	Workers, ParameterServers int
	// WorkerPrice and ParameterServerPrice are in dollars per hour. If both are 0 and TypePrices is empty, costs are
	// read from a table, if there is one.
	WorkerPrice, ParameterServerPrice float64
	// TypePrices are the prices of workers whose names contain a type. If several types match, the last one is used.
	TypePrices []TypePrice
}

// TypePrice is the price of a type of worker, in dollars per hour.
type TypePrice struct {
	Type  string
	Price float64
}

// Has reports whether the name of a server contains the type.
func (t TypePrice) Has(server string) bool { return within(plainName(server), plainName(t.Type)) }

// DefaultRevoked are the values that mark a revoked server, in upper or lower case.
var DefaultRevoked = []string{"revoked", "preempted", "true", "yes", "1"}

// Fact is a kind of column, and its possible names. Names are compared without case, blanks, hyphens and
// underscores.
type Fact struct {
	Name, Doc string
	Columns   []string
}

// Facts are the facts that are read from tables.
var Facts = []Fact{
	{"time", "time of the evaluation of a checkpoint, in seconds", []string{"walltime", "time", "timestamp", "times"}},
	{"step", "its step", []string{"step", "globalstep", "iteration"}},
	{"accuracy", "accuracy of a checkpoint, from 0 to 1", []string{"accuracy", "acc", "valaccuracy", "testaccuracy"}},
	{"loss", "its loss", []string{"loss", "valloss", "testloss"}},
	{"group", "the group in which runs are numbered, such as a zone", []string{"zone", "region", "group"}},
	{"run", "the run", []string{"run", "trial", "replicate"}},
	{"server", "a server", []string{"vmname", "server", "instance", "vm"}},
	{"uptime", "time for which a server was up, in seconds", []string{"uptime", "uptimes", "lifetime"}},
	{"revoked", "whether a server was revoked", []string{"revoked", "preempted"}},
	{"cost", "the cost of a run in dollars", []string{"cost", "costusd", "dollars"}},
}

// plain returns the name of a column in the form for comparisons.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-()", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// CheckColumns returns an error for names in Columns that are not facts.
func (o *Options) CheckColumns() error {
	names := schema.Each(Facts, func(f Fact) string { return f.Name })
	for _, name := range slices.Sorted(maps.Keys(o.Columns)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%q is not a property of runs that a column can have: use one of "+
				"%s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// ErrNoTables is returned for a folder without a table of checkpoints.
var ErrNoTables = errors.New("no CSV file here has columns for the time and the step of checkpoints")

// reader is the state while the tables of a folder are read.
type reader struct {
	Options
	runs  []*Run
	byKey map[string]*Run
	costs map[string]paid // by the key in the table of costs, whose zones can have longer or shorter names
	owed  map[*Run]float64
	// others are files of another kind.
	others []string
	all    []serverRow
	marks  bool // the server table says which servers were revoked
	seen   []string
	files  int    // number of tables of checkpoints
	alone  bool   // each table of checkpoints without a column of runs is one run
	path   string // name of the table that is being read
}

type serverRow struct {
	Server
	group, run string // empty if the table does not have the column
}

// Read reads the runs in a folder, in the order of their first rows. warnings describe doubtful data of single runs.
func Read(dir string, o Options) (list []Run, warnings []string, err error) {
	if err := o.CheckColumns(); err != nil {
		return nil, nil, err
	}
	entries, err := folder.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read recorded runs: %w", err)
	}
	var r *reader
	for _, alone := range []bool{false, true} { // if no table names runs, each file is one run
		r = &reader{Options: o, byKey: map[string]*Run{}, costs: map[string]paid{}, alone: alone}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.EqualFold(filepath.Ext(e.Name()), ".csv") {
				if err := r.file(filepath.Join(dir, e.Name())); err != nil {
					return nil, nil, err
				}
			}
		}
		if r.files > 0 {
			break
		}
	}
	if r.files == 0 {
		return nil, nil, r.noTables(dir)
	}
	if len(r.runs) == 0 {
		return nil, nil, fmt.Errorf("%s: its tables of runs have no rows: check that their programs wrote checkpoints", dir)
	}
	warnings = r.finish()
	for _, run := range r.runs {
		list = append(list, *run)
	}
	return list, warnings, nil
}

// noTables returns ErrNoTables with the files that were found instead.
func (r *reader) noTables(dir string) error {
	if len(r.seen) == 0 {
		return fmt.Errorf("%s: %w; the folder has no CSV file", dir, ErrNoTables)
	}
	return fmt.Errorf("%s: %w; there are %s; name the columns (time, step, run, …) if they are called otherwise",
		dir, ErrNoTables, strings.Join(r.seen, "; "))
}

// file reads a table of any of these kinds.
func (r *reader) file(path string) error {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("read recorded runs: %w", err)
	}
	defer f.Close()
	r.path = filepath.Base(path)
	var at map[string]int
	other := false // the file is of another kind
	var row func(line int, fields []string) error
	_, err = textfile.EachRow(path, f, false, func(header []string) error {
		at = r.places(header)
		for i, name := range header {
			if k := slices.Index(header, name); k < i && slices.Contains(slices.Collect(maps.Values(at)), k) {
				return fmt.Errorf("two columns are called %q: rename one of them", name)
			}
		}
		r.seen = append(r.seen, fmt.Sprintf("%s with the columns %s", filepath.Base(path), textfile.Names(header)))
		has := func(facts ...string) bool {
			return !slices.ContainsFunc(facts, func(f string) bool { _, ok := at[f]; return !ok })
		}
		switch {
		case has("time", "step", "run"), r.alone && has("time", "step"):
			r.files++
			row = r.checkpoint
		case has("server", "uptime"):
			r.marks = r.marks || has("revoked")
			row = r.server
		case has("run", "cost"):
			row = r.cost
		default:
			other = true
		}
		return nil
	}, func(line int, fields []string) error {
		if row == nil {
			return nil
		}
		values := make([]string, len(Facts))
		for i, f := range Facts {
			if p, ok := at[f.Name]; ok && p < len(fields) {
				values[i] = strings.TrimSpace(fields[p])
			}
		}
		return row(line, values)
	})
	if other {
		r.others = append(r.others, r.path)
		return nil
	}
	return err
}

// places finds the columns of facts in a header.
func (r *reader) places(header []string) map[string]int {
	at := map[string]int{}
	for _, f := range Facts {
		names := f.Columns
		if name, ok := r.Columns[f.Name]; ok {
			names = []string{plain(name)}
		}
		for _, name := range names {
			if i := slices.IndexFunc(header, func(h string) bool { return plain(h) == name }); i >= 0 {
				at[f.Name] = i
				break
			}
		}
	}
	return at
}

// The indexes of facts in Facts.
const (
	factTime = iota
	factStep
	factAccuracy
	factLoss
	factGroup
	factRun
	factServer
	factUptime
	factRevoked
	factCost
)

func number(what, text string, min float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		return 0, fmt.Errorf("the %s is %q, which is not a number", what, text)
	case v < min:
		return 0, fmt.Errorf("the %s is %q, but must be at least %g", what, text, min)
	}
	return v, nil
}

// optional parses a number that may be empty; it then returns NaN.
func optional(what, text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	return number(what, text, math.Inf(-1))
}

func (r *reader) checkpoint(_ int, v []string) error {
	at, err := number("time", v[factTime], math.Inf(-1))
	if err != nil {
		return err
	}
	step, err := number("step", v[factStep], 0)
	if err != nil {
		return err
	}
	if step != math.Trunc(step) {
		return fmt.Errorf("the step is %q, which is not a whole number", v[factStep])
	}
	accuracy, err := optional("accuracy", v[factAccuracy])
	if err != nil {
		return err
	}
	if accuracy < 0 || accuracy > 1 {
		return fmt.Errorf("the accuracy is %q, but must be from 0 to 1, such as 0.93 for 93%%", v[factAccuracy])
	}
	loss, err := optional("loss", v[factLoss])
	if err != nil {
		return err
	}
	if r.alone && v[factRun] == "" {
		v[factRun] = "1"
		v[factGroup] = cmp.Or(v[factGroup], strings.TrimSuffix(r.path, filepath.Ext(r.path)))
	}
	if v[factRun] == "" {
		return errors.New("the row has no name of a run")
	}
	key := v[factGroup] + "\x00" + v[factRun]
	run := r.byKey[key]
	if run == nil {
		run = &Run{Group: v[factGroup], ID: v[factRun]}
		r.byKey[key] = run
		r.runs = append(r.runs, run)
	}
	// Relative to the first row, nanoseconds fit: seconds since 1970 would leave too few digits.
	run.Points = append(run.Points, Point{time.Duration(math.Round(at * 1e9)), int(step), accuracy, loss})
	return nil
}

func (r *reader) server(_ int, v []string) error {
	up, err := number("uptime", v[factUptime], 0)
	if err != nil {
		return err
	}
	marked := r.Revoked
	if len(marked) == 0 {
		marked = DefaultRevoked
	}
	r.all = append(r.all, serverRow{
		Server: Server{v[factServer], time.Duration(math.Round(up * 1e9)), slices.ContainsFunc(marked, func(m string) bool {
			return strings.EqualFold(m, v[factRevoked])
		})},
		group: v[factGroup], run: v[factRun],
	})
	return nil
}

// finish completes the runs, and returns warnings.
func (r *reader) finish() (warnings []string) {
	last := r.Steps
	if last == 0 {
		for _, run := range r.runs {
			for _, p := range run.Points {
				last = max(last, p.Step)
			}
		}
		last = (99*last + 99) / 100
	}
	if len(r.others) > 0 {
		warnings = append(warnings, "files without the columns of a table of runs were left out: "+some(r.others))
	}
	warnings = append(warnings, r.assign()...)
	warnings = append(warnings, r.charge()...)
	warnings = append(warnings, r.unpriced()...)
	for _, run := range r.runs {
		warnings = append(warnings, run.close(last, r.Steps > 0)...)
		run.Cost = r.price(run)
	}
	return warnings
}

// find returns the run with a number in a group. If the group has no such run, it tries groups whose names end with
// its name, or with which its name ends ("demand-us-east1-c" and "us-east1-c"). It returns nil if several match.
func (r *reader) find(group, id string) (found *Run) {
	if run := r.byKey[group+"\x00"+id]; run != nil {
		return run
	}
	most, group := -1, plainName(group)
	for _, run := range r.runs {
		own := plainName(run.Group)
		if run.ID != id || !endsWith(own, group) && !endsWith(group, own) {
			continue
		}
		switch common := min(len(own), len(group)); {
		case common > most:
			most, found = common, run
		case common == most:
			found = nil
		}
	}
	return found
}

// endsWith reports whether the last words of a name are another name.
func endsWith(name, last string) bool {
	rest, ok := strings.CutSuffix(name, last)
	return ok && (rest == "" || last == "" || !word(rest[len(rest)-1]))
}

// assign assigns servers to runs: by columns of the table, or by the names of the servers, which contain the name of
// the run ("us-east1-c-run3-worker-0").
func (r *reader) assign() (warnings []string) {
	byLength := slices.Clone(r.runs) // longest names first, because my-zone-run1 contains zone-run1
	slices.SortStableFunc(byLength, func(a, b *Run) int { return cmp.Compare(len(b.Name()), len(a.Name())) })
	var strangers []string
	for _, s := range r.all {
		run := r.find(s.group, s.run)
		if s.run == "" {
			i := slices.IndexFunc(byLength, func(c *Run) bool { return within(plainName(s.Name), plainName(c.Name())) })
			if i >= 0 {
				run = byLength[i]
			}
		}
		if run == nil {
			strangers = append(strangers, s.Name)
			continue
		}
		run.Servers = append(run.Servers, s.Server)
	}
	for _, run := range r.runs {
		run.Known = r.marks && len(run.Servers) > 0
	}
	if len(strangers) > 0 {
		warnings = append(warnings, fmt.Sprintf("servers that belong to no run with checkpoints were left out: %s; their names should "+
			"have that of the run (%s), or the table its columns", some(strangers), r.runs[0].Name()))
	}
	return warnings
}

func plainName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "-")) }

// within reports whether a name contains another name that ends at the end of a word.
func within(name, part string) bool {
	for i := strings.Index(name, part); i >= 0; {
		end := i + len(part)
		if (i == 0 || !word(name[i-1])) && (end == len(name) || !word(name[end])) {
			return true
		}
		next := strings.Index(name[i+1:], part)
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

func word(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }

// close sorts the points of a run, and finds its end.
func (run *Run) close(last int, exact bool) (warnings []string) {
	doubt := func(format string, args ...any) {
		warnings = append(warnings, fmt.Sprintf("%s: ", run.Name())+fmt.Sprintf(format, args...))
	}
	sorted := slices.IsSortedFunc(run.Points, byTime)
	slices.SortStableFunc(run.Points, byTime)
	if !sorted {
		doubt("its rows were sorted, because their times were not in order")
	}
	begin := slices.IndexFunc(run.Points, func(p Point) bool { return p.Step == 0 })
	if begin < 0 {
		doubt("it has no row for step 0, so its time counts from its first row, for step %d", run.Points[0].Step)
		begin = 0
	}
	run.Points = run.Points[begin:]
	zero := run.Points[0].At
	for i := range run.Points {
		run.Points[i].At -= zero
		if i > 0 && run.Points[i].Step < run.Points[i-1].Step {
			run.Restarted++
		}
	}
	if run.Restarted > 0 {
		doubt("its steps go back %d times, where training was resumed from a checkpoint", run.Restarted)
	}
	end := slices.IndexFunc(run.Points, func(p Point) bool { return p.Step >= last })
	run.Whole = end >= 0
	if end < 0 {
		end = len(run.Points) - 1
		doubt("it has no end: its last row is at step %d, before %d; its time and cost are those up to there",
			run.Points[end].Step, last)
	} else if !exact {
		end = len(run.Points) - 1
	}
	run.Points = run.Points[:end+1]
	run.Duration = run.Points[end].At
	run.Accuracy, run.Loss = math.NaN(), math.NaN()
	for _, p := range run.Points {
		if !math.IsNaN(p.Accuracy) {
			run.Accuracy = p.Accuracy
		}
		if !math.IsNaN(p.Loss) {
			run.Loss = p.Loss
		}
	}
	return warnings
}

func byTime(a, b Point) int { return cmp.Compare(a.At, b.At) }

// some returns the first few of many names, as text.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
