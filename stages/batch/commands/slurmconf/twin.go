package slurmconf

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/batch"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/table"
)

//go:embed twin.hcl.tmpl
var templates embed.FS

var experiment = template.Must(template.ParseFS(templates, "twin.hcl.tmpl"))

// Twin is the experiment that models a cluster.
type Twin struct {
	*clusterModel
	tables *sacctmgrOutput
	log    string // of sacct; empty without one
	// cluster is the cluster whose jobs of the log are taken; empty for all.
	cluster string
	trace   workload.Trace
}

// ReadTwin reads the configuration of a controller, and tables of sacct and sacctmgr, in any order. The error joins
// everything that is wrong, by file and line.
func ReadTwin(conf string, others []string) (*Twin, error) {
	c, err := ReadSlurmConf(conf)
	if err != nil {
		return nil, err
	}
	if len(c.Problems) > 0 && len(c.nodes)+len(c.partitions)+len(c.settings) == 0 { // another file
		return nil, fmt.Errorf("%w: name the slurm.conf of the controller first, then the tables of sacct and sacctmgr",
			c.Problems[0])
	}
	t := &Twin{clusterModel: newModel(c), tables: &sacctmgrOutput{byName: map[string]*accountBlock{},
		users: map[string]bool{},
		names: map[string]bool{}}}
	// The nodes are read first, because the tables name them.
	read := map[string]bool{}
	for _, path := range others {
		head, err := firstLine(path)
		if err != nil {
			return nil, err
		}
		if read[path], err = t.readNodes(path, head); err != nil {
			return nil, err
		}
	}
	t.convert()
	for _, path := range others {
		head, err := firstLine(path)
		if err != nil {
			return nil, err
		}
		if read[path] {
			continue
		}
		if strings.HasPrefix(head, "ReservationName=") || head == "No reservations in the system" {
			if err := t.readReservations(path); err != nil {
				return nil, err
			}
			continue
		}
		json := slurm.IsJSON([]byte(head))
		names := strings.Split(head, "|")
		if !json && !slices.Contains(names, "JobID") && !slices.Contains(names, "JobIDRaw") {
			if err := readTables(t.clusterModel, t.tables, path); err != nil {
				return nil, err
			}
			continue
		}
		if t.log != "" {
			return nil, fmt.Errorf("%s and %s are both logs of sacct: give one", t.log, path)
		}
		options := formats.Options{Args: map[string]any{"default_memory": t.defaultMemory(),
			"default_limit": t.defaultLimits()}}
		if own := t.get("ClusterName", ""); own != "" && (json || slices.Contains(strings.Split(head, "|"), "Cluster")) {
			t.cluster, options.Args["cluster"] = own, own
		}
		err = readText(path, func(text io.Reader) (err error) {
			t.trace, err = formats.Find("accounting").Read(path, text, options)
			return err
		})
		if err != nil {
			return nil, joinLines(err)
		}
		t.log = path
	}
	t.tables.check(t.clusterModel)
	t.checkLogJobs()
	t.checkClocks()
	return t, join(t.Problems)
}

// mostShown bounds the mistakes that are listed.
const mostShown = 20

// join returns one error with all problems: of those that are alike, the first, and how many follow.
func join(problems []error) error {
	var shown []error
	others := map[string]int{} // by kind
	kind := func(p error) string {
		var conf *ConfProblem
		if errors.As(p, &conf) {
			return conf.File + datafile.KindOf(errors.New(conf.Text))
		}
		return datafile.KindOf(p)
	}
	said := map[string]bool{}
	for _, p := range problems {
		if said[p.Error()] {
			continue
		}
		said[p.Error()] = true
		others[kind(p)]++
		if others[kind(p)] == 1 {
			shown = append(shown, p)
		}
	}
	var lines []string
	for i, p := range shown {
		if i == mostShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(shown)-i))
			break
		}
		text := p.Error()
		if n := others[kind(p)] - 1; n > 0 {
			text += fmt.Sprintf(" (and %s like it)", schema.Plural(n, "more line"))
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// joinLines returns the errors of lines that a reader has joined as join does. Other errors stay as they are.
func joinLines(err error) error {
	lines := datafile.LineErrors(err)
	if len(lines) < 2 {
		return err
	}
	return join(schema.Each(lines, func(l *textfile.LineError) error {
		return &ConfProblem{l.File, l.Line, l.Err.Error()}
	}))
}

// firstLine returns the first line of a file.
func firstLine(path string) (line string, err error) {
	err = readText(path, func(text io.Reader) error {
		line, err = bufio.NewReader(textfile.Unmarked(text)).ReadString('\n')
		if err == nil {
			err = io.EOF // the other lines are not needed
		}
		return err
	})
	if err != nil && err != io.EOF {
		return "", err
	} else if line == "" {
		return "", fmt.Errorf("%s is empty: print it again, or leave it out", path)
	}
	return strings.TrimSpace(line), nil
}

// readText calls read with the unpacked content of a file.
func readText(path string, read func(io.Reader) error) error {
	var reading error
	_, err := datafile.ReadFile(language.Input{Path: path, Shown: path}, func(text io.Reader) error {
		reading = read(text)
		return reading
	})
	if err != nil && err != reading {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return err
}

// wholeSeconds reports whether the log has no parts of seconds.
func (t *Twin) wholeSeconds() bool {
	part := func(d time.Duration) bool { return d%time.Second != 0 }
	return !slices.ContainsFunc(t.trace.RunTimes, part) && !slices.ContainsFunc(t.trace.Waits, part)
}

// checkLogJobs finds jobs of the log that the configuration cannot run: the log is of another cluster, or of another
// time.
func (t *Twin) checkLogJobs() {
	partitions := map[string]bool{}
	for _, p := range t.SlurmConf.partitions {
		partitions[p[0].value] = false // it has no nodes
	}
	for _, b := range t.partitions {
		partitions[b.name()] = true
	}
	cores := 0
	for _, g := range t.groups {
		for _, a := range g.Args {
			if a.Name == "threads" {
				n := 0
				_, _ = fmt.Sscan(a.Value, &n)
				cores += n * len(g.hosts)
			}
		}
	}
	if len(t.trace.Jobs) > 0 {
		t.noteMissingFacts()
	}
	var misfits misfits
	over := t.mostOver()
	for i := range t.trace.Jobs {
		j := &t.trace.Jobs[i]
		s, what := j.Submission(), ""
		at := setting{file: t.log, line: int(t.trace.Lines[i])}
		t.widen(at, j)
		if s.Limit > 0 && t.trace.RunTimes[i] > s.Limit+over {
			t.unmodeledOf(at, fmt.Sprintf("job %s ran longer than its time limit", j.Name), "over limits",
				"the twin ends it at its limit")
		}
		name := s.Reservation
		if name != "" && !slices.ContainsFunc(t.closures, func(c nodeClosure) bool { return c.name == name }) {
			t.unmodeled(at, fmt.Sprintf("no reservation %s is given: its jobs start anywhere", name))
		}
		switch {
		case s.Partition != "" && len(partitions) > 0 && !partitions[s.Partition]:
			what = fmt.Sprintf("job %s ran in the partition %q, which the configuration does not have", j.Name, s.Partition)
			if _, some := partitions[s.Partition]; some {
				what = fmt.Sprintf("job %s ran in the partition %q, which has no nodes now", j.Name, s.Partition)
			}
		case t.lacksGPU(s) != "":
			what = fmt.Sprintf("job %s asked for GPUs of the type %q, which no node has", j.Name, t.lacksGPU(s))
		case t.lacksFeature(s) != "":
			what = fmt.Sprintf("job %s asked for the feature %q, which no node has", j.Name, t.lacksFeature(s))
		case j.GPUs > t.gpusFor(s):
			what = fmt.Sprintf("job %s had %d GPUs, and the configuration has %d of the type that it asked for", j.Name,
				j.GPUs, t.gpusFor(s))
		case cores > 0 && j.Threads > cores:
			what = fmt.Sprintf("job %s had %d CPUs, and the configuration has %d", j.Name, j.Threads, cores)
		case len(t.tables.accounts) > 0 && s.Account != "" && t.tables.byName[s.Account] == nil:
			what = fmt.Sprintf("job %s was in the account %q, which the associations do not have", j.Name, s.Account)
			if !t.associations {
				t.unmodeledOf(at, what, "no association", "it has no limits, and one share")
				continue
			}
		default:
			continue
		}
		misfits.add(at.line, what)
	}
	if len(misfits) > 0 {
		t.problem(setting{file: t.log, line: misfits[0].line},
			"%s: use the slurm.conf of the time of the log, or leave such jobs out of the log", misfits)
	}
}

// mostOver returns the longest time that Slurm lets a job run after its time limit.
func (t *Twin) mostOver() time.Duration {
	for _, p := range t.policy {
		if text, err := strconv.Unquote(p.Value); err == nil && p.Name == "over_limit" {
			d, _ := schema.ParseDuration(text)
			return d + time.Minute // limits are checked once a minute
		}
	}
	return 0
}

// widen raises the limits that a job of the log exceeded: they were higher, or not enforced, when it ran.
func (t *Twin) widen(at setting, j *scheduler.Job) {
	s, blocks := j.Submission(), []*block(nil)
	find := func(list []block, name string) {
		if i := slices.IndexFunc(list, func(b block) bool { return name != "" && b.name() == name }); i >= 0 {
			blocks = append(blocks, &list[i])
		}
	}
	if find(t.partitions, s.Partition); len(blocks) > 0 {
		find(t.tables.qos, blocks[0].qos.value)
	}
	find(t.tables.qos, s.QOS)
	a := t.tables.byName[s.Account]
	if a != nil {
		find(a.Blocks, j.User)
	}
	for n := 0; a != nil && n <= len(t.tables.accounts); n++ { // parents may form a circle
		blocks = append(blocks, &a.block)
		a = t.tables.byName[a.parent]
	}
	amounts := map[string]int{"max_nodes": s.MinNodes, "group_nodes": s.MinNodes,
		"max_cores": j.Threads, "group_cores": j.Threads, "max_cores_per_user": j.Threads, "group_gpus": j.GPUs}
	for _, b := range blocks {
		for k := range b.Args {
			arg, value := &b.Args[k], ""
			switch text, _ := strconv.Unquote(arg.Value); arg.Name {
			case "max_time", "max_wall":
				most, err := schema.ParseDuration(text)
				if free := arg.Name == "max_time" && s.Limit == batch.NoLimit; err == nil && s.Limit > most && !free {
					value = duration(s.Limit)
				}
			default:
				if most, err := strconv.Atoi(arg.Value); err == nil && amounts[arg.Name] > most {
					value = strconv.Itoa(amounts[arg.Name])
				}
			}
			if value != "" {
				t.unmodeledOf(at, fmt.Sprintf("job %s ran above %s = %s of %s %s", j.Name, arg.Name, arg.Value, b.Kind,
					b.name()),
					"above "+arg.Name, "here the limit is the most that a job of the log had")
				arg.Value = value
			}
		}
	}
}

// misfits are the jobs of a log that a configuration cannot run: the first of each kind, and how many others are of the
// kind.
type misfits []misfit

type misfit struct {
	kind, text   string
	line, others int
}

// add adds the job of a line with the reason.
func (m *misfits) add(line int, text string) {
	kind := datafile.KindOf(errors.New(text))
	if i := slices.IndexFunc(*m, func(f misfit) bool { return f.kind == kind }); i >= 0 {
		(*m)[i].others++
		return
	}
	*m = append(*m, misfit{kind, text, line, 0})
}

// String returns one sentence about all jobs.
func (m misfits) String() string {
	var b strings.Builder
	for i, f := range m {
		if i > 0 {
			fmt.Fprintf(&b, "; line %d: ", f.line)
		}
		b.WriteString(f.text)
		if f.others > 0 {
			fmt.Fprintf(&b, " (like %s)", schema.Plural(f.others, "more job"))
		}
	}
	return b.String()
}

// gpusFor returns how many GPUs a job can have: all, or the GPUs of the type that it asks for and of no known type.
func (t *Twin) gpusFor(s *scheduler.Submission) (n int) {
	asked := ""
	for _, f := range s.Features {
		if gpu, ok := strings.CutPrefix(f, batch.GPUFeature); ok {
			asked = gpu
		}
	}
	for _, g := range t.groups {
		for _, d := range g.gpus {
			if asked == "" || d.Type == "" || strings.EqualFold(d.Type, asked) {
				n += d.Count * len(g.hosts)
			}
		}
	}
	return n
}

// lacksGPU returns the type of GPU that a job asks for, where no node has it.
func (t *Twin) lacksGPU(s *scheduler.Submission) string {
	for _, f := range s.Features {
		gpu, typed := strings.CutPrefix(f, batch.GPUFeature)
		if typed && !slices.ContainsFunc(t.groups, func(g nodeGroup) bool { return g.hasGPU(gpu) }) {
			return gpu
		}
	}
	return ""
}

// lacksFeature returns the feature that a job asks for, where no node has it.
func (t *Twin) lacksFeature(s *scheduler.Submission) string {
	for _, f := range s.Features {
		has := func(g nodeGroup) bool {
			return slices.ContainsFunc(strings.Split(strings.Trim(f, "[]"), "|"), func(one string) bool {
				return slices.Contains(g.Feature, one)
			})
		}
		if !strings.HasPrefix(f, batch.GPUFeature) && !slices.ContainsFunc(t.groups, has) {
			return f
		}
	}
	return ""
}

// textMap writes a map of texts for the language.
func textMap(settings []schema.Setting) string {
	list := schema.Each(settings, func(s schema.Setting) string {
		return strconv.Quote(s.Name) + " = " + strconv.Quote(s.Value)
	})
	return "{ " + strings.Join(list, ", ") + " }"
}

// long is the number of jobs from which on one replicate of a log is enough: with more jobs, the means hardly depend
// on when the scheduler's periods begin.
const long = 20_000

// Experiment writes an experiment of a name, for a file in a folder.
func (t *Twin) Experiment(name, dir string) ([]byte, error) {
	type log struct {
		File, Cluster  string
		Memory, Limits string // as default_memory and default_limit have them; empty where no job needs them
		Jobs           int
		Span           string
	}
	blocks := append(slices.Clone(t.partitions), t.closureBlocks()...)
	for i, g := range t.groups {
		if g.Weight != 1 || len(g.Feature) > 0 {
			b := block{Kind: "node_set", Label: fmt.Sprintf("set_%d", i+1), Args: []pair{{"names", list(ranges(g.names()))}}}
			if g.Weight != 1 {
				b.Args = append(b.Args, pair{"weight", fmt.Sprint(g.Weight)})
			}
			if len(g.Feature) > 0 {
				b.Args = append(b.Args, pair{"features", list(g.Feature)})
			}
			blocks = append(blocks, b)
		}
	}
	blocks = append(blocks, t.tables.qos...)
	blocks = append(blocks, schema.Each(t.tables.accounts, func(a *accountBlock) block { return a.block })...)
	fill := struct {
		Name, Cluster string
		Short         bool
		Unmodeled     []string
		Log           *log
		Groups        []nodeGroup
		Policy        []pair
		Blocks        []block
	}{
		Name: name, Cluster: t.get("ClusterName", "cluster"), Short: t.log == "" || len(t.trace.Jobs) < long,
		Unmodeled: t.Unmodeled, Groups: t.groups, Policy: t.policy, Blocks: blocks,
	}
	if t.log != "" {
		shown := filepath.ToSlash(filearg.Seen(t.log, dir))
		last := t.trace.Jobs[len(t.trace.Jobs)-1].Arrival
		fill.Policy = append(slices.Clone(fill.Policy), pair{"clock", duration(t.trace.Origin % (24 * time.Hour))})
		if t.wholeSeconds() {
			fill.Policy = append(fill.Policy, pair{"whole_seconds", "true"})
		}
		fill.Log = &log{File: strconv.Quote(shown), Jobs: len(t.trace.Jobs), Span: table.WithUnit(last.Seconds(), "s")}
		said := strings.Join(t.trace.Assumed, "\n")
		if strings.Contains(said, "has no memory (") {
			fill.Log.Memory = textMap(t.defaultMemory())
		}
		if strings.Contains(said, "has no time limit (") {
			fill.Log.Limits = textMap(t.defaultLimits())
		}
		if t.cluster != "" {
			fill.Log.Cluster = strconv.Quote(t.cluster)
		}
	}
	var b bytes.Buffer
	if err := experiment.Execute(&b, fill); err != nil {
		return nil, err
	}
	source, problems := decode.Format(name, b.Bytes())
	if source == nil {
		return nil, fmt.Errorf("write the experiment: %s", problems[0].Detail)
	}
	return source, nil
}

// UnmodeledSettings lists the settings that the twin does not model, and the assumptions about the log.
func (t *Twin) UnmodeledSettings() []string {
	list := schema.Each(t.Unmodeled, func(u string) string { return "not modeled: " + u })
	for _, said := range t.trace.Assumed {
		if said == slurm.InUTC { // it is in the list before
			continue
		}
		list = append(list, filepath.Base(t.log)+": "+said)
	}
	return list
}
