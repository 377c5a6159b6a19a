package formats

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// alternativeFacts are the facts that a column can have for one alternative of a job. The name of the alternative
// comes first: "cpu_run_time".
var alternativeFacts = []string{FactRunTime, FactRequested, FactThreads, FactGPUs, FactMemory}

// alternativeFact splits a name such as "cpu_run_time" into the alternative's name and the fact; ok is false for
// other names.
func alternativeFact(fact string) (name string, ok bool) {
	for _, known := range alternativeFacts {
		if name, ok := strings.CutSuffix(fact, "_"+known); ok && validAlternative(name) {
			return name, true
		}
	}
	return "", false
}

// validAlternative reports whether an alternative can have the name. Names are part of a list in a field of a table,
// and must not contain its separators.
func validAlternative(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r == ';' || r == '=' || r == 0x7f || r == '\ufffd'
	})
}

// checkAlternatives returns an error for columns of an alternative for which there is no column of run times.
func (t *table) checkAlternatives() error {
	for _, name := range t.alternatives {
		if _, ok := t.at[name+"_"+FactRunTime]; !ok {
			return &ArgError{columnsArg, fmt.Errorf("no column is given for the run times of the alternative "+
				"%q: add %s_%s = \"…\" to columns",
				name, name, FactRunTime)}
		}
		if _, ok := t.at[name+"_"+FactThreads]; !ok {
			t.Assumed = append(t.Assumed, fmt.Sprintf("no column is given for the threads of the alternative "+
				"%q, so it has the threads of the job",
				name))
		}
	}
	return nil
}

// alternativesOf reads the requests with which a job can run: its own request, if that has a run time, and each
// alternative with a run time. It gives the job the first of them as its own request, and returns the run time of
// that. The list is nil if there is only one, and it does not need a type of GPU.
func (t *table) alternativesOf(j *scheduler.Job, run time.Duration, fields []string) (time.Duration, []workload.Alternative,
	error) {
	var all []workload.Alternative
	if run >= 0 {
		all = append(all, workload.Alternative{RunTime: run, Alternative: scheduler.Alternative{
			Name: ownName(j.GPUs), Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory, Predicted: j.Predicted,
		}})
	}
	for _, name := range t.alternatives {
		if _, ok := t.text(fields, name+"_"+FactRunTime); !ok {
			continue
		}
		a, err := t.alternative(j, name, fields)
		if err != nil {
			return 0, nil, err
		}
		if slices.ContainsFunc(all, func(b workload.Alternative) bool { return b.Name == name }) {
			return 0, nil, fmt.Errorf("the job's own request and an alternative are both called %q: rename the "+
				"alternative", name)
		}
		all = append(all, a)
	}
	if len(all) == 0 {
		return 0, nil, errors.New("it has no run time")
	}
	own := all[0]
	j.Threads, j.GPUs, j.Memory, j.Predicted = own.Threads, own.GPUs, own.Memory, own.Predicted
	if len(all) == 1 && own.GPU == "" {
		all = nil
	}
	return own.RunTime, all, nil
}

// ownName returns the name of a job's own request among its alternatives.
func ownName(gpus int) string {
	if gpus > 0 {
		return "gpu"
	}
	return "cpu"
}

// alternative reads an alternative of a job. Except for "cpu" and "gpu", the name is a type of GPU.
func (t *table) alternative(j *scheduler.Job, name string, fields []string) (workload.Alternative, error) {
	a := workload.Alternative{Alternative: scheduler.Alternative{
		Name: name, Threads: j.Threads, GPUs: max(j.GPUs, 1), Memory: j.Memory,
	}}
	switch name {
	case "cpu":
		a.GPUs = 0
	case "gpu":
	default:
		a.GPU = t.Share(name)
	}
	var err error
	if a.RunTime, err = t.span(fields, name+"_"+FactRunTime, t.o.Unit()); err != nil {
		return a, err
	}
	if _, ok := t.text(fields, name+"_"+FactRequested); ok {
		if a.Predicted, err = t.span(fields, name+"_"+FactRequested, t.unitOfRequests()); err != nil {
			return a, err
		}
		a.Predicted = max(a.Predicted, 1)
	}
	if a.Threads, err = t.whole(fields, name+"_"+FactThreads, a.Threads, 1); err != nil {
		return a, err
	}
	if a.GPUs, err = t.whole(fields, name+"_"+FactGPUs, a.GPUs, 1); err != nil {
		return a, err
	}
	if text, ok := t.text(fields, name+"_"+FactMemory); ok {
		if a.Memory, _, err = logs.ParseMemory(text, t.args.MemoryUnit); err != nil {
			return a, err
		}
	}
	nodes := max(j.Nodes, 1)
	if a.GPUs%nodes != 0 {
		return a, fmt.Errorf("%d GPUs of %q cannot be divided evenly over %d nodes", a.GPUs, name, nodes)
	}
	a.Threads = (max(a.Threads, 1) + nodes - 1) / nodes * nodes
	if a.GPU != "" && a.GPUs == 0 {
		return a, fmt.Errorf("the alternative %q is named after a type of GPU, but requests no GPUs", name)
	}
	return a, nil
}

// span reads a duration of at least 0.
func (t *table) span(fields []string, fact string, unit time.Duration) (time.Duration, error) {
	text, _ := t.text(fields, fact)
	d, err := logs.ParseSpan(text, unit)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is below 0", text)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", t.named[fact], err)
	}
	return d, nil
}

// alternativesColumn is the name of the column with the alternatives of a job, separated by semicolons. The first is
// the job's own request.
const alternativesColumn = "alternatives"

// writeAlternatives returns alternatives as text: "gpu threads=1 gpus=1 run_time_s=5.0;cpu threads=8 …".
func writeAlternatives(all []workload.Alternative) string {
	var b strings.Builder
	for i, a := range all {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, "%s threads=%d gpus=%d memory_bytes=%d", a.Name, a.Threads, a.GPUs, a.Memory)
		if a.Predicted > 0 {
			b.WriteString(" predicted_s=" + textfile.Seconds(a.Predicted))
		}
		if a.RunTime >= 0 {
			b.WriteString(" run_time_s=" + textfile.Seconds(a.RunTime))
		}
		if a.GPU != "" { // the last part, because a type may contain blanks
			b.WriteString(" gpu=" + a.GPU)
		}
	}
	return b.String()
}

// alternatives parses the text of writeAlternatives.
func (r *csvRow) alternatives(j *scheduler.Job, run time.Duration) []workload.Alternative {
	text := r.field(alternativesColumn)
	if text == "" {
		return nil
	}
	const wanted = "a list of alternatives, like gpu threads=1 gpus=1 memory_bytes=0 run_time_s=5.0;cpu threads=8 …"
	var all []workload.Alternative
	for one := range strings.SplitSeq(text, ";") {
		a, ok := readAlternative(one)
		if !ok || slices.ContainsFunc(all, func(b workload.Alternative) bool { return b.Name == a.Name }) {
			r.failAt(alternativesColumn, wanted)
			return nil
		}
		all = append(all, a)
	}
	switch own := all[0]; {
	case own.Threads != j.Threads || own.GPUs != j.GPUs || own.Memory != j.Memory || own.Predicted != j.Predicted ||
		own.RunTime != run:
		r.failAt(alternativesColumn, "a list that begins with the job's own request")
	case j.Malleable || r.fields[csvResizes] != "":
		r.failAt(alternativesColumn, "for a job whose request changes: one with alternatives keeps it until it ends")
	}
	nodes := max(j.Nodes, 1)
	for _, a := range all {
		if a.Threads%nodes != 0 || a.GPUs%nodes != 0 {
			r.failAt(alternativesColumn, fmt.Sprintf("evenly divided over %d nodes", nodes))
		}
	}
	return all
}

func readAlternative(text string) (a workload.Alternative, ok bool) {
	a.RunTime = -1
	text, a.GPU, ok = strings.Cut(text, " gpu=")
	if ok && (a.GPU == "" || strings.ContainsFunc(a.GPU, func(r rune) bool { return r < ' ' })) {
		return a, false
	}
	var values string
	a.Name, values, _ = strings.Cut(text, " ")
	for pair := range strings.FieldsSeq(values) {
		key, value, _ := strings.Cut(pair, "=")
		good := false
		switch key {
		case "threads":
			a.Threads, good = number(value)
		case "gpus":
			a.GPUs, good = number(value)
		case "memory_bytes":
			n, err := strconv.ParseInt(value, 10, 64)
			a.Memory, good = n, err == nil && n >= 0
		case "predicted_s":
			a.Predicted, good = textfile.ParseSeconds(value)
		case "run_time_s":
			a.RunTime, good = textfile.ParseSeconds(value)
		}
		if !good {
			return a, false
		}
	}
	return a, validAlternative(a.Name) && a.Threads > 0 && (a.GPU == "" || a.GPUs > 0)
}

// number parses a number of threads or GPUs.
func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && n <= workload.MaxThreads
}
