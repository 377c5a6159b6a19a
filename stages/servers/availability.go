package servers

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/language/datafile"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// availability reads the records of how many servers were available over time. There is one record, or one for each
// value of the column that divides the file, in the order of the file.
func (d decoder) availability(na *eval.Args, m eval.Model, at hcl.Range) []*market.Availability {
	if nodes, ok := d.comings(na, m, at); ok || !na.OK {
		return nodes
	}
	window := m.Option("window", "")
	lists := [][]string{{"time_s", "servers"}, {"time_s", "available"}, {"first_tick", "ticks", "available"}}
	if window != "" {
		for i := range lists {
			lists[i] = append(lists[i], window)
		}
	}
	rows, which, ok := datafile.CSVTable(d.Decoder, na, m, at, lists...)
	if !ok {
		return nil
	}
	step := d.step(na, m, at, which == 2)
	if !na.OK {
		return nil
	}
	var names []string
	byName := map[string]*recorded{}
	for _, r := range rows {
		name := ""
		if window != "" {
			name = r.Texts[len(r.Texts)-1]
		}
		if byName[name] == nil {
			names, byName[name] = append(names, name), &recorded{}
		}
		if !d.recordedRow(na, m, r, byName[name], which == 2, step) {
			return nil
		}
	}
	return schema.Each(names, func(name string) *market.Availability { return byName[name].done() })
}

// step returns the length of a tick, if the record is in ticks.
func (d decoder) step(na *eval.Args, m eval.Model, at hcl.Range, wanted bool) time.Duration {
	text := m.Option("step", "")
	switch step, err := schema.ParseDuration(text); {
	case wanted && text == "":
		na.Fail(at, "Missing argument", "%s is in ticks: give the length of a tick, as in availability(%q, {}, { step = "+
			"\"10m\" }).",
			d.Find(m.File).Shown, m.File)
	case text == "":
	case !wanted:
		na.Fail(at, "Unused argument", "%s is in seconds: step is for records in ticks.", d.Find(m.File).Shown)
	case err != nil || step <= 0:
		na.Fail(at, "Not a step", "step is %q: it is a duration above 0s.", text)
	default:
		return step
	}
	return 0
}

// recorded is a record that is being read.
type recorded struct {
	market.Availability
	end time.Duration // end of the last line, for a record in ticks
}

func (r *recorded) add(at time.Duration, servers int) {
	r.Times, r.Servers = append(r.Times, at), append(r.Servers, servers)
}

// done ends a record. After the end of a record in ticks, no server is available.
func (r *recorded) done() *market.Availability {
	if r.end > 0 {
		r.add(r.end, 0)
	}
	return &r.Availability
}

// recordedRow adds a row of the file to a record.
func (d decoder) recordedRow(na *eval.Args, m eval.Model, r datafile.CSVRow, into *recorded, ticks bool,
	step time.Duration) bool {
	if !ticks {
		v, ok := datafile.Numbers(d.Decoder, na, m, r, "time_s", "servers")
		if !ok {
			return false
		}
		t, servers := time.Duration(v[0]*1e9), datafile.CSVRow{Line: r.Line, Texts: r.Texts[1:]}
		if _, ok := datafile.WholeNumbers(d.Decoder, na, m, servers, "servers"); !ok ||
			!datafile.Ascending(d.Decoder, na, m, r, into.Times, t) {
			return false
		}
		into.add(t, int(v[1]))
		return true
	}
	v, ok := datafile.WholeNumbers(d.Decoder, na, m, r, "first_tick", "ticks", "available")
	if !ok {
		return false
	}
	first, count := v[0], v[1]
	if (first+count)*step.Seconds() > datafile.MaxSeconds {
		datafile.WrongLine(d.Decoder, na, m, r.Line, "Value out of range",
			"The tick %g ends after more than %g s.", first+count,
			datafile.MaxSeconds)
		return false
	}
	from := time.Duration(first) * step
	switch {
	case count < 1:
		datafile.WrongLine(d.Decoder, na, m, r.Line, "Malformed line", "ticks is 0: write how many ticks this line covers, at least 1.")
		return false
	case from < into.end:
		datafile.WrongLine(d.Decoder, na, m, r.Line, "Not in order",
			"This line begins at tick %g, but the line before it covers the ticks before %d: the two overlap.",
			first,
			into.end/step)
		return false
	case from > into.end: // between the lines: no server is known to be available
		into.add(into.end, 0)
	}
	into.add(from, int(v[2]))
	into.end = from + time.Duration(count)*step
	return true
}

// comings reads a file without a header: each line has milliseconds, "add" or "remove", and a node. ok is false if the
// file has another form.
func (d decoder) comings(na *eval.Args, m eval.Model, at hcl.Range) (_ []*market.Availability, ok bool) {
	from := d.Find(m.File)
	var into recorded
	there := map[string]bool{}
	before := -1.0
	// other: the first line has another form; wrong: a line had a mistake, so mistakes in later lines are not reported
	other, wrong := false, false
	row := func(_ int, fields []string) error {
		ms, err := strconv.ParseFloat(strings.TrimSpace(fields[0]), 64)
		change, node := strings.TrimSpace(fields[1]), strings.TrimSpace(fields[2])
		known := change == "add" || change == "remove"
		other = other || !ok && !known
		if ok = !other; other || wrong {
			return nil
		}
		wrong = true
		switch {
		case !known:
			return errors.New("a line is milliseconds, add or remove, and a node")
		case err != nil || !(ms >= 0) || ms/1000 > datafile.MaxSeconds:
			return fmt.Errorf("the time is %q: not a number of milliseconds", fields[0])
		case ms < before:
			return fmt.Errorf("the time %g does not come after %g", ms, before)
		case there[node] && change == "add":
			return fmt.Errorf("the node %q cannot be added here", node)
		case !there[node] && change == "remove":
			return fmt.Errorf("the node %q cannot be removed here", node)
		}
		wrong, before, there[node] = false, ms, change == "add"
		into.count(time.Duration(ms*1e6), change == "add")
		return nil
	}
	_, err := datafile.ReadFile(from, func(text io.Reader) error {
		_, err := textfile.Table{Names: []string{"milliseconds", "change", "node"}}.EachRow(from.Shown, text, false,
			func([]string) error { return nil }, row)
		return err
	})
	if ok && err != nil { // if the file has another form, csvTable reports its mistakes
		na.OK = false
		datafile.FileErrors(d.Finder, from, at, err)
	}
	if ok && (len(m.Where) > 0 || len(m.Named) > 0) {
		na.Fail(at, "Unused argument", "%s has no columns to choose by or to name.", from.Shown)
	}
	return slices.Clip([]*market.Availability{&into.Availability}), ok
}

// count adds a node, or removes one.
func (r *recorded) count(at time.Duration, add bool) {
	now := 0
	n := len(r.Times)
	if n > 0 {
		now = r.Servers[n-1]
	}
	if add {
		now++
	} else {
		now--
	}
	if n > 0 && r.Times[n-1] == at {
		r.Servers[n-1] = now
		return
	}
	r.add(at, now)
}
