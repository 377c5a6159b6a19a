package start

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mitchellh/go-wordwrap"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Log is what is known of the log of a cluster.
type Log struct {
	// File is its path, as in the experiment. Format is that of its trace block; Given reports whether it must stand
	// there, as the file's name does not show it.
	File   string
	Format *formats.Format
	Given  bool
	// Separator, Columns and Unit are arguments of tables; zero for their defaults. Unread are the columns that say
	// nothing that was understood.
	Separator string
	Columns   []schema.Setting
	Unit      time.Duration
	Unread    []string

	// Jobs and Days say how much there is, and Malformed which lines are none, in a phrase.
	Jobs      int
	Days      float64
	Malformed string
	// Requested reports whether jobs have requested times.
	Requested bool
	// Cluster is a cluster on which they can run; Said reports whether the log says how large it is.
	Cluster Cluster
	Said    bool
	// Unbelieved is a size that the log says and that cannot be; 0 for none.
	Unbelieved int
}

// Cluster is as large as a log needs: nodes of GPUs, or, where no job asks for a GPU, cores alone.
type Cluster struct {
	Cores                int // without GPUs
	Nodes, Threads, GPUs int // nodes, and what each has
}

// endings are those of files that are logs.
var endings = []string{".csv", ".tsv", ".txt", ".log", ".swf", ".json", ".trace", ".requests", ".req", ".psv"}

// IsLog reports whether a file is a log by its name, and not a program.
func IsLog(file string) bool {
	return slices.Contains(endings, strings.ToLower(filepath.Ext(strings.TrimSuffix(file, ".gz"))))
}

// aimedLoad is the load of a cluster whose size nobody says.
const aimedLoad = 0.8

// mostHead is how much of a file is looked at for the line that names its columns, in bytes.
const mostHead = 64 << 10

// heading returns the line that seems to name the columns of a table: the first that has arrivals and something else, or
// else the first of all.
func heading(lines []string) string {
	first := strings.TrimRight(lines[0], "\r")
	for _, line := range lines {
		var l Log
		if l.guess(strings.TrimRight(line, "\r")); !strings.HasPrefix(first, ";") && len(l.Columns) > 1 && l.Columns[0].Name == "arrival" {
			return strings.TrimRight(line, "\r")
		}
	}
	return first
}

// InspectLog looks into a log, which the experiment will call shown. The error says what keeps it from being replayed.
func InspectLog(path, shown string) (Log, error) {
	l := Log{File: filepath.ToSlash(shown)}
	path, err := filepath.Abs(path)
	if err != nil {
		return l, err
	}
	file := decode.Input{Path: path, Shown: shown}
	var head []byte
	if _, err := decode.ReadFile(file, func(text io.Reader) (err error) {
		head, err = io.ReadAll(io.LimitReader(workload.Unmarked(text), mostHead))
		return err
	}); err != nil {
		return l, fmt.Errorf("read %s: %w", shown, err)
	}
	l.choose(heading(strings.Split(string(head), "\n")))
	args := map[string]any{"columns": l.Columns}
	if l.Separator != "" {
		args["separator"] = l.Separator
	}
	if l.Unit > 0 {
		args[formats.UnitArg.Name] = l.Unit
	}
	var trace workload.Trace
	if _, err := decode.ReadFile(file, func(text io.Reader) (err error) {
		trace, err = l.Format.Read(shown, text, formats.Options{Lenient: true, Args: args})
		return err
	}); err != nil {
		return l, err
	}
	return l, l.measure(&trace)
}

// choose finds the format, by the name of the file and its first line.
func (l *Log) choose(head string) {
	names := strings.FieldsFunc(head, func(r rune) bool { return r == '|' || r == ',' })
	switch l.Format = formats.Of(l.File); {
	case strings.Contains(head, "|") && slices.Contains(names, "Submit") &&
		(slices.Contains(names, "JobID") || slices.Contains(names, "JobIDRaw")):
		l.Format, l.Given = formats.Find("sacct"), true
	case l.Format == nil && strings.HasPrefix(head, ";"):
		l.Format, l.Given = formats.Find("swf"), true
	case l.Format == nil || l.Format.Name == "csv" && !strings.HasPrefix(head, "job,class,arrival_s,threads"):
		l.Format, l.Given = formats.Find("table"), true
		l.guess(head)
	}
}

// measure finds out how large a cluster the jobs need.
func (l *Log) measure(t *workload.Trace) error {
	l.Jobs = len(t.Jobs)
	if len(t.Skipped) > 0 {
		l.Malformed = experiment.Malformed(t.Skipped)
	}
	if l.Jobs == 0 {
		return fmt.Errorf("there is no job in %s: %s", l.File, l.Malformed)
	}
	var coreSeconds, gpuSeconds float64
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	c, broadest, most := &l.Cluster, 1, 1
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if !t.Timed(i) {
			return fmt.Errorf("%s does not say how long job %q ran: a replay needs run times", l.File, j.Name)
		}
		run := t.RunTimes[i].Seconds()
		coreSeconds += run * float64(j.Threads)
		gpuSeconds += run * float64(j.GPUs)
		parts := max(j.Nodes, 1)
		broadest, most = max(broadest, parts), max(most, j.Threads)
		c.Threads, c.GPUs = max(c.Threads, j.Threads/parts), max(c.GPUs, j.GPUs/parts)
		first, last = min(first, j.Arrival), max(last, j.Arrival+t.RunTimes[i])
		l.Requested = l.Requested || j.Predicted > 0 && j.Predicted != t.RunTimes[i]
	}
	span := max((last-first).Seconds(), 1) * aimedLoad
	l.Days = (last - first).Hours() / 24
	if c.GPUs == 0 && broadest == 1 {
		c.Threads = 0
		switch {
		case t.Processors >= most && wider(t.Processors) <= schema.MaxThreads:
			c.Cores, l.Said = t.Processors, true
		case t.Processors > 0:
			l.Unbelieved = t.Processors
			fallthrough
		default:
			c.Cores = max(ceil(coreSeconds/span), most)
		}
	} else {
		c.Nodes = max(broadest, ceil(coreSeconds/span/float64(max(c.Threads, 1))))
		if c.GPUs > 0 {
			c.Nodes = max(c.Nodes, ceil(gpuSeconds/span/float64(c.GPUs)))
		}
	}
	if wider(c.Cores) > schema.MaxThreads || wider(c.Nodes) > schema.MaxNodes || c.Threads > schema.MaxThreads ||
		wider(c.Nodes) > 1<<30/max(c.Threads, 1) {
		return fmt.Errorf("its jobs need a cluster of %d cores, or %d nodes with %d cores each: a cluster can have %d cores "+
			"and %d nodes", c.Cores, c.Nodes, c.Threads, schema.MaxThreads, schema.MaxNodes)
	}
	return nil
}

// ceil rounds up; what is larger than any cluster stays that.
func ceil(x float64) int { return int(math.Ceil(min(x, 1<<40))) }

// wider is the other size of a cluster that the experiment compares: a fifth more.
func wider(size int) int {
	return max(int(math.Round(1.2*float64(min(size, 1<<40)))), min(size, 1<<40)+1)
}

// Doubts says what could not be found out, in sentences.
func (l *Log) Doubts() []string {
	var out []string
	if len(l.Columns) > 0 {
		var read []string
		for _, c := range l.Columns {
			read = append(read, c.Name+" from "+c.Value)
		}
		text := "Taken by their names: " + strings.Join(read, ", ") + "."
		if len(l.Unread) > 0 {
			text += " Not used: " + strings.Join(l.Unread, ", ") + "."
		}
		out = append(out, text)
	}
	if l.Malformed != "" {
		out = append(out, strings.ToUpper(l.Malformed[:1])+l.Malformed[1:]+
			". Run it with --lenient, which leaves them out.")
	}
	if l.Unbelieved > 0 {
		out = append(out, fmt.Sprintf("The log says that the cluster had %d cores. That cannot be: a job asks for more, or no "+
			"cluster has so many.", l.Unbelieved))
	}
	if !l.Said {
		out = append(out, fmt.Sprintf("The log does not say how large the cluster was: this one would be busy for %.0f%% of "+
			"the time. Write the true size in its place.", 100*aimedLoad))
	}
	if !l.Requested {
		out = append(out, "No column has the times that users asked for: easy decides by the true run times, which is the "+
			"most that it can bring.")
	}
	return out
}

// Experiment writes an experiment of that name. It errs for a log whose path no experiment can name.
func (l *Log) Experiment(name string) ([]byte, error) {
	if !schema.Printable(l.File) {
		return nil, fmt.Errorf("the name %q has a character that an experiment cannot hold: rename the log", l.File)
	}
	var b bytes.Buffer
	unit, size := "cores", l.Cluster.Cores
	if size == 0 {
		unit, size = "nodes", l.Cluster.Nodes
	}
	var doubts [][]string
	for _, text := range l.Doubts() {
		text = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, text)
		doubts = append(doubts, strings.Split(wordwrap.WrapString(text, widest), "\n"))
	}
	estimates := "oracle"
	if l.Requested {
		estimates = "requested"
	}
	err := experiments.ExecuteTemplate(&b, "log.hcl.tmpl", map[string]any{
		"Log": l, "Name": name, "Arguments": l.arguments(), "Unit": unit, "Size": size,
		"More": wider(size), "Estimates": estimates, "Long": l.Days >= 5,
		"Days": fmt.Sprintf("%.3g", l.Days), "Doubts": doubts,
	})
	return b.Bytes(), err
}

// widest is how long the lines of comments are, in characters.
const widest = 110

// arguments are the lines of the trace block.
func (l *Log) arguments() []string {
	rows := [][2]string{{"file", eval.Literal(l.File)}}
	if l.Given {
		rows = append(rows, [2]string{"format", eval.Literal(l.Format.Name)})
	}
	if l.Separator != "" {
		rows = append(rows, [2]string{"separator", eval.Literal(l.Separator)})
	}
	if l.Unit > 0 {
		rows = append(rows, [2]string{"unit", eval.Literal(l.Unit.String())})
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%-*s = %s", width, r[0], r[1]))
	}
	if len(l.Columns) == 0 {
		return lines
	}
	width = 0
	for _, c := range l.Columns {
		width = max(width, len(c.Name))
	}
	lines = append(lines, "columns = {")
	for _, c := range l.Columns {
		lines = append(lines, fmt.Sprintf("  %-*s = %s", width, c.Name, eval.Literal(c.Value)))
	}
	return append(lines, "}")
}
