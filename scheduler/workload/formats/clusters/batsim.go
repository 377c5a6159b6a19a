package clusters

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

var _ = formats.Register(&formats.Format{
	Name: "batsim", Rank: 4, Endings: []string{".json"}, Holds: formats.RunTimes | formats.RequestedTimes, NeedsRunTimes: true,
	Doc:    "A workload of the simulator Batsim in JSON, with profiles of the type delay. A job's class is its profile.",
	Args:   []schema.Arg{formats.UnitArg},
	Reader: readBatsim, Writer: writeBatsim,
})

// mostBatsim is the greatest size of a file in bytes, because a file is in memory as a whole. A million jobs take
// 100 MB.
var mostBatsim = 256 << 20

// batsimProfile is the work of a job. Only the type delay has a run time.
type batsimProfile struct {
	Type  string  `json:"type"`
	Delay float64 `json:"delay"`
}

// batsimJob is a job of the file. Its prediction is the walltime, or else its run time.
type batsimJob struct {
	ID       batsimID `json:"id"`
	Submit   float64  `json:"subtime"`
	Cores    int      `json:"res"`
	Walltime float64  `json:"walltime"`
	Profile  string   `json:"profile"`
}

// readBatsim reads a JSON object with jobs and profiles.
func readBatsim(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	text, err := io.ReadAll(io.LimitReader(textfile.Unmarked(r), int64(mostBatsim)+1))
	if err != nil {
		return workload.Trace{}, err
	}
	if len(text) > mostBatsim {
		return workload.Trace{}, fmt.Errorf("the file is larger than %d MiB: convert it to csv or swf, which "+
			"are read line by line",
			mostBatsim>>20)
	}
	var w struct {
		Resources int                      `json:"nb_res"`
		Jobs      []json.RawMessage        `json:"jobs"`
		Profiles  map[string]batsimProfile `json:"profiles"`
	}
	if err := json.Unmarshal(text, &w); err != nil {
		return workload.Trace{}, &textfile.LineError{File: file, Line: lineOf(text, err), Err: plainJSON(err)}
	}
	b := logs.Builder{Trace: workload.Trace{Processors: w.Resources}}
	var found []error
	from, line := 0, 1
	if len(w.Jobs) > 0 {
		var first map[string]json.RawMessage
		_ = json.Unmarshal(w.Jobs[0], &first) // an error in it is reported below
		if first["id"] == nil && first["job_id"] != nil {
			return workload.Trace{}, fmt.Errorf("%s: it is JSON of Slurm, and not of Batsim: for a log of sacct, write  "+
				"format = \"sacct\"  or  format = \"accounting\"", file)
		}
		if said, _ := unused("batsim", "")(slices.Sorted(maps.Keys(first))); said != "" {
			b.Assumed = append(b.Assumed, "of jobs "+said)
		}
	}
	for _, raw := range w.Jobs {
		// Search the text of the job after the job before it, to find its line.
		if i := bytes.Index(text[from:], raw); i >= 0 {
			line += bytes.Count(text[from:from+i], []byte("\n"))
			from += i
		}
		if err := addBatsim(&b, line, raw, w.Profiles, o); err != nil {
			found = append(found, &textfile.LineError{File: file, Line: line, Err: err})
			if len(found) == textfile.MaxErrors && !o.Lenient {
				break
			}
		}
	}
	if len(found) > 0 && !o.Lenient {
		return workload.Trace{}, errors.Join(found...)
	}
	return b.Finish(found), nil
}

// addBatsim adds the job of one JSON object.
func addBatsim(b *logs.Builder, line int, raw []byte, profiles map[string]batsimProfile, o formats.Options) error {
	var j batsimJob
	if err := json.Unmarshal(raw, &j); err != nil {
		return plainJSON(err)
	}
	if j.ID == "" {
		return errors.New("the job has no field id")
	}
	profile, known := profiles[j.Profile]
	submit, errSubmit := textfile.Units(j.Submit, o.Unit())
	run, errRun := textfile.Units(profile.Delay, o.Unit())
	wall, errWall := textfile.Units(j.Walltime, o.Unit())
	switch {
	case !known:
		return fmt.Errorf("job %v: there is no profile %q", j.ID, j.Profile)
	case profile.Type != "delay" && profile.Type != "DelayProfile":
		return fmt.Errorf("job %v: profile %q is of the type %q, not delay", j.ID, j.Profile, profile.Type)
	case submit < 0 || run < 0 || j.Cores <= 0:
		return fmt.Errorf("job %v: the submit time %v, the run time %v or the number of cores %d is out of "+
			"range", j.ID, j.Submit,
			profile.Delay, j.Cores)
	}
	if err := errors.Join(errSubmit, errRun, errWall); err != nil {
		return err
	}
	if wall <= 0 {
		wall = max(run, 1)
	}
	return b.Add(line, scheduler.Job{
		Name: fmt.Sprintf("job-%s", j.ID), Class: b.Share(j.Profile), Arrival: submit, Threads: j.Cores,
		Priority: -1, Deadline: scheduler.Never, Predicted: wall,
	}, run)
}

// plainJSON describes an error in JSON without names of Go types.
func plainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return err
	}
	wants := map[reflect.Kind]string{
		reflect.Int: "a whole number", reflect.Float64: "a number", reflect.String: "a text", reflect.Slice: "a list",
		reflect.Map: "an object", reflect.Struct: "an object",
	}[kind.Type.Kind()]
	is, _, _ := strings.Cut(kind.Value, " ") // kind.Value is text such as "number 1.5"
	is = map[string]string{"array": "a list", "object": "an object", "string": "a text", "bool": "true or false"}[is]
	switch {
	case is == "" && kind.Value == "number":
		is = "a number"
	case is == "":
		is = "the " + kind.Value
	}
	if kind.Field == "" {
		return fmt.Errorf("the file has %s instead of %s", is, wants)
	}
	return fmt.Errorf("%s is %s, but must be %s", kind.Field, is, wants)
}

// lineOf returns the line at which decoding failed.
func lineOf(text []byte, err error) int {
	at := int64(len(text))
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return 1 + bytes.Count(text[:min(int(at), len(text))], []byte("\n"))
}

// batsimID is the id of a job: a number as written in the file, or a text.
type batsimID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *batsimID) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var number json.Number
		if err := json.Unmarshal(raw, &number); err != nil {
			return errors.New("id is neither a number nor a text")
		}
		text = string(raw)
	}
	*id = batsimID(text)
	return nil
}

// writeBatsim writes a JSON object with one job per line, and a delay profile for each run time of each class.
func writeBatsim(w io.Writer, t workload.Trace) error {
	out := bufio.NewWriter(w)
	most := 1
	for i := range t.Jobs {
		most = max(most, t.Jobs[i].Threads)
	}
	if t.Processors > 0 {
		most = t.Processors
	}
	fmt.Fprintf(out, "{\n  \"nb_res\": %d,\n  \"jobs\": [", most)
	ids := batsimIDs(t.Jobs)
	var profiles batsimProfiles
	for i := range t.Jobs {
		j, run := &t.Jobs[i], t.RunTimes[i]
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n    {\"id\": %s, \"subtime\": %s, \"res\": %d, \"walltime\": %s, \"profile\": %s}",
			ids[i], exact(j.Arrival), j.Threads, exact(requested(j, run)), quoted(profiles.name(j.Class, run)))
	}
	out.WriteString("\n  ],\n  \"profiles\": {")
	for i, p := range profiles.list {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n    %s: {\"type\": \"delay\", \"delay\": %s}", quoted(profiles.names[p]), exact(p.run))
	}
	out.WriteString("\n  }\n}\n")
	return out.Flush()
}

// batsimIDs returns the ids of jobs as JSON. It removes the prefix that reading adds, if all jobs have it. If all
// ids are then numbers, they are written as numbers.
func batsimIDs(jobs []scheduler.Job) []string {
	if ids, ok := numbers(jobs, "job-"); ok {
		return ids
	}
	prefix := "job-"
	if slices.ContainsFunc(jobs, func(j scheduler.Job) bool { return !strings.HasPrefix(j.Name, prefix) }) {
		prefix = ""
	}
	ids := make([]string, len(jobs))
	for i := range jobs {
		ids[i] = quoted(strings.TrimPrefix(jobs[i].Name, prefix))
	}
	return ids
}

// delay is a class of jobs and one of its run times.
type delay struct {
	class string
	run   time.Duration
}

// batsimProfiles has the names of the profiles of a workload.
type batsimProfiles struct {
	list  []delay
	names map[delay]string
	taken map[string]bool
}

// name returns the name of a profile: the class, or the class and a number.
func (p *batsimProfiles) name(class string, run time.Duration) string {
	d := delay{class, run}
	if name, ok := p.names[d]; ok {
		return name
	}
	if p.names == nil {
		p.names, p.taken = map[delay]string{}, map[string]bool{}
	}
	name := class
	for n := 2; p.taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", class, n)
	}
	p.names[d], p.taken[name] = name, true
	p.list = append(p.list, d)
	return name
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string can always be encoded
	return string(text)
}
