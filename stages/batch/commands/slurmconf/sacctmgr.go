package slurmconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/fields"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
)

// sacctmgrOutput has the tables of sacctmgr: qualities of service, and accounts with their users.
type sacctmgrOutput struct {
	qos      []block
	accounts []*accountBlock
	byName   map[string]*accountBlock
	users    map[string]bool // "account/user"
	names    map[string]bool // names of qualities of service
	early    []func()        // read users whose accounts are in later lines
}

// accountBlock is an account while it is read.
type accountBlock struct {
	block
	parent string
	at     setting
}

// sacctmgrTable reads an output of sacctmgr -P. A line of column names precedes each table.
type sacctmgrTable struct {
	*clusterModel
	*sacctmgrOutput
	head    []string
	kind    string
	cluster string // cluster of the earlier rows
	dump    struct{ cluster, parent string }
	at      setting
	late    bool // whether all lines were read
}

// readTables reads the output of sacctmgr -P, of `show assoc`, `show qos` or both after each other.
func readTables(m *clusterModel, t *sacctmgrOutput, path string) error {
	r := sacctmgrTable{clusterModel: m, sacctmgrOutput: t}
	var above []string // accounts by the depth of their indentation
	return eachLine(path, func(n int, text string) {
		fields := strings.Split(text, "|")
		r.at = setting{name: "", file: path, line: n}
		switch {
		case strings.TrimSpace(text) == "" || r.kind == "other":
		case headOf(text) != "":
			r.kind, r.head, above = headOf(text), schema.Each(fields, strings.TrimSpace), nil
			r.judge()
		case dumped(text) || r.kind == "dump":
			r.kind = "dump"
			r.dumpLine(text)
		case r.kind == "event":
			r.event(fields)
		case r.kind == "assoc":
			above = r.assoc(fields, above)
		case r.kind == "qos":
			r.addQOS(fields)
		case strings.Contains(text, "=") && !strings.Contains(text, "|"):
			m.problem(r.at, "this is a second slurm.conf: leave it out, or add its lines to slurm.conf by  Include %s",
				filepath.Base(path))
			r.kind = "other"
		case slurm.FixedWidth(text):
			m.problem(r.at, "%v", slurm.ErrFixedWidth)
			r.kind = "other"
		case slurm.OtherSeparator(text) != nil:
			m.problem(r.at, "%v", slurm.OtherSeparator(text))
			r.kind = "other"
		default:
			m.problem(r.at, "this is no table of sacct or sacctmgr: print it with  sacct -a -X -P -D -o JobID,…  "+
				"(tfexp init twin --help has all columns), or  sacctmgr -P show assoc; sacctmgr -P show qos")
			r.kind = "other"
		}
	})
}

// headOf returns which table of sacctmgr begins with a line of column names: assoc, qos or event; empty for another
// line.
func headOf(text string) string {
	names := schema.Each(strings.Split(text, "|"), strings.TrimSpace)
	has := func(all ...string) bool {
		return slices.ContainsFunc(all, func(name string) bool { return slices.Contains(names, name) })
	}
	switch {
	case has("Account") && has("User", "Share", "Par Name", "ParentName") && !has("State", "JobID"):
		return "assoc"
	case has("NodeName", "Node Name") && has("TimeStart", "Time Start", "Start"):
		return "event"
	case has("Name") && has("Priority", "GraceTime", "Preempt", "UsageFactor", "GrpTRES", "MaxWall"):
		return "qos"
	}
	return ""
}

// judge finds columns of a table that sacctmgr does not have, and notes those that are not there.
func (t *sacctmgrTable) judge() {
	if _, err := fields.Of("sacctmgr show "+t.kind).Unused("", t.head); err != nil {
		t.problem(t.at, "%v", err)
		return
	}
	need, wanted := map[string]string{"assoc": "User", "event": "State", "qos": "Name"}[t.kind], map[string][]string{
		"assoc": {"Share", "GrpTRES", "GrpJobs", "MaxTRES", "MaxJobs", "MaxWall"},
		"qos":   {"Priority", "Preempt", "GrpTRES", "GrpJobs", "MaxTRES", "MaxTRESPU", "MaxJobsPU", "MaxWall"},
	}[t.kind]
	if !slices.Contains(t.head, need) {
		t.problem(t.at, "the table has no column %s: print the table with  sacctmgr -P show %s", need, t.kind)
		return
	}
	old := slices.Contains(t.head, "GrpCPUs") || slices.Contains(t.head, "MaxCPUs") // before Slurm 15.08
	wanted = slices.DeleteFunc(wanted, func(name string) bool {
		return slices.Contains(t.head, name) || old && strings.Contains(name, "TRES")
	})
	if len(wanted) > 0 {
		t.unmodeled(t.at, fmt.Sprintf("the table has no column %s: print the table with  sacctmgr -P show %s",
			strings.Join(wanted, ", "), t.kind))
	}
}

// get returns the field of a column.
func (t *sacctmgrTable) get(fields []string, names ...string) string {
	for i, h := range t.head {
		for _, name := range names {
			if h == name && i < len(fields) {
				return strings.TrimSpace(fields[i])
			}
		}
	}
	return ""
}

// elsewhere returns the cluster of a row if it is not the cluster of the configuration; otherwise the empty string.
func (t *sacctmgrTable) elsewhere(fields []string) string {
	cluster := t.get(fields, "Cluster")
	if own := t.SlurmConf.get("ClusterName", ""); own == "" || strings.EqualFold(cluster, own) {
		return ""
	}
	return cluster
}

// foreign reports whether a row belongs to another cluster, and notes that. what names the kind of the row.
func (t *sacctmgrTable) foreign(fields []string, what string) bool {
	cluster := t.elsewhere(fields)
	if own := t.SlurmConf.get("ClusterName", ""); cluster != "" {
		t.unmodeledOf(t.at, fmt.Sprintf("%s of the cluster %s", what, cluster), what+" of another cluster",
			"ClusterName is "+own+", and others are left out")
		return true
	}
	if cluster = t.get(fields, "Cluster"); cluster != "" && t.cluster != "" && cluster != t.cluster &&
		t.SlurmConf.get("ClusterName", "") == "" {
		t.problem(t.at, "the table has the clusters %s and %s, and slurm.conf has no ClusterName: add it", t.cluster,
			cluster)
		return true
	}
	if cluster != "" {
		t.cluster = cluster
	}
	return false
}

// limits reads the limits of a row, by the names of their columns.
func (t *sacctmgrTable) limits(b *block, fields []string, columns [][2]string) {
	for _, c := range columns {
		text := t.get(fields, c[0])
		if text == "" || text == "-1" {
			continue
		}
		if !t.clusterModel.limits {
			t.unmodeledOf(t.at, fmt.Sprintf("%s=%s of %s %s", c[0], text, b.Kind, b.Label), "unenforced",
				"limits hold no job without AccountingStorageEnforce=limits, as in Slurm")
			continue
		}
		if c[1] == "max_wall" {
			d, err := span(text)
			if err != nil {
				t.problem(t.at, "%s: %v", c[0], err)
			} else if d > 0 {
				b.Args = append(b.Args, pair{c[1], duration(d)})
			}
			continue
		}
		if c[1] != "" {
			if n, err := strconv.Atoi(text); err != nil || n < 0 {
				t.problem(t.at, "%s=%s is no whole number", c[0], text)
				continue
			} else if n == 0 {
				t.unmodeledBy(b, c[0], text, "no limit here; in Slurm, no job may start")
				continue
			}
			b.Args = append(b.Args, pair{c[1], text})
			continue
		}
		if !strings.Contains(text, "=") {
			t.problem(t.at, "%s=%s is no list of resources such as cpu=16,node=2: print the table with  sacctmgr -P", c[0],
				text)
			continue
		}
		for one := range strings.SplitSeq(text, ",") {
			name, value, _ := strings.Cut(one, "=")
			name, err := slurm.TRESName(name)
			if err != nil {
				t.problem(t.at, "%s=%s: %v", c[0], text, err)
				continue
			}
			arg := map[string]string{
				"GrpTRES cpu": "group_cores", "GrpTRES node": "group_nodes", "GrpTRES gres/gpu": "group_gpus",
				"MaxTRES cpu": "max_cores", "MaxTRES node": "max_nodes", "MaxTRESPU cpu": "max_cores_per_user",
			}[c[0]+" "+name]
			n, err := strconv.Atoi(value)
			if arg == "" || err != nil {
				t.unmodeledBy(b, c[0]+"="+name, value, "tfexp ignores this limit")
				continue
			}
			if n == 0 {
				t.unmodeledBy(b, c[0]+"="+name, value, "no limit here; in Slurm, no such job may start")
				continue
			}
			b.Args = append(b.Args, pair{arg, value})
		}
	}
}

// unmodeledBy notes a setting of a user, an account or a quality of service.
func (t *sacctmgrTable) unmodeledBy(owner *block, name, value, effect string) {
	t.unmodeledOf(t.at, fmt.Sprintf("%s=%s of %s %s", name, value, owner.Kind, owner.Label), name+" "+owner.Kind, effect)
}

// left lists the columns that a twin does not model, where a row has a value.
func (t *sacctmgrTable) left(b *block, row []string) {
	table := fields.Of("sacctmgr show " + t.kind)
	for i, column := range t.head {
		effect := table.Effect(column)
		if effect == "" || i >= len(row) {
			continue
		}
		unheld := !t.clusterModel.limits && (strings.Contains(column, "TRES") || strings.Contains(column, "Wall") ||
			strings.HasPrefix(column, "Max") || strings.HasPrefix(column, "Grp") || strings.HasPrefix(column, "Min"))
		if text := strings.TrimSpace(row[i]); text != "" && text != "0" && text != "0.000000" && !unheld {
			t.unmodeledBy(b, column, text, effect)
		}
	}
}

// newBlock returns a block of a kind with a name.
func newBlock(kind, name string) block {
	b := block{Kind: kind, Label: label(name)}
	if b.Label != name {
		b.Args = append(b.Args, pair{"name", strconv.Quote(name)})
	}
	return b
}

func (t *sacctmgrTable) addQOS(row []string) {
	name := t.get(row, "Name")
	if t.names[name] {
		t.problem(t.at, "the qos %q is there twice: remove one of the lines", name)
	}
	t.names[name] = true
	b := newBlock("qos", name)
	add := func(name, value string) { b.Args = append(b.Args, pair{name, value}) }
	if p := t.get(row, "Priority"); p != "" && p != "0" {
		add("priority", p)
	}
	if list := t.get(row, "Preempt"); list != "" {
		var all []string
		b.at, b.preempts = t.at, strings.Split(list, ",")
		all = append(all, schema.Each(b.preempts, strconv.Quote)...)
		add("preempts", "["+strings.Join(all, ", ")+"]")
	}
	preempt := settingsLine{{"PreemptMode", t.get(row, "PreemptMode"), t.at.file, t.at.line}}
	if mode := t.mode(preempt, "PreemptMode"); mode != "" {
		add("preempt_mode", strconv.Quote(mode))
	}
	for _, c := range [][2]string{{"GraceTime", "grace"}, {"PreemptExemptTime", "exempt"}} {
		if d, err := span(t.get(row, c[0])); err != nil {
			t.problem(t.at, "%s: %v", c[0], err)
		} else if d > 0 {
			add(c[1], duration(d))
		}
	}
	if f := t.get(row, "UsageFactor"); f != "" {
		if v, err := strconv.ParseFloat(f, 64); err == nil && v != 1 {
			add("usage_factor", strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	t.limits(&b, row, [][2]string{
		{"GrpTRES", ""}, {"GrpJobs", "group_jobs"}, {"GrpSubmit", "group_submit"}, {"MaxTRES", ""},
		{"MaxWall", "max_wall"}, {"MaxTRESPU", ""}, {"MaxJobsPU", "max_jobs"}, {"MaxSubmitPU", "max_submit"},
		{"GrpCPUs", "group_cores"}, {"GrpNodes", "group_nodes"}, {"MaxCPUs", "max_cores"}, {"MaxNodes", "max_nodes"},
		{"MaxCPUsPU", "max_cores_per_user"},
	})
	t.left(&b, row)
	t.qos = append(t.qos, b)
}

// assoc reads an account, or a user of one. Accounts are indented below their parents.
func (t *sacctmgrTable) assoc(row []string, above []string) []string {
	account, user := t.get(row, "Account"), t.get(row, "User")
	if t.foreign(row, "an association") {
		return above
	}
	raw := ""
	for i, h := range t.head {
		if h == "Account" && i < len(row) {
			raw = row[i]
		}
	}
	depth := len(raw) - len(strings.TrimLeft(raw, " "))
	if account == "" {
		t.problem(t.at, "an association has no account: print the table with  sacctmgr -P show assoc")
		return above
	}
	parent := t.get(row, "ParentName", "Par Name")
	if parent == "" && user == "" && depth > 0 && depth <= len(above) {
		parent = above[depth-1]
	}
	kind, name := "account", account
	if user != "" {
		kind, name = "user", user
	}
	b := newBlock(kind, name)
	switch s := t.get(row, "Share"); s {
	case "", "1":
	case "parent", "2147483647": // the number of "parent" in the database
		t.unmodeledBy(&b, "Share", "parent", "it counts as 1")
	default:
		if n, err := strconv.Atoi(s); err != nil || n < 0 {
			t.problem(t.at, "Share=%s is neither a whole number nor parent", s)
		}
		b.Args = append(b.Args, pair{"shares", s})
	}
	if p := t.get(row, "Priority"); p != "" && p != "0" {
		b.Args = append(b.Args, pair{"priority", p})
	}
	if q := t.get(row, "Def QOS", "DefaultQOS"); q != "" {
		b.Args = append(b.Args, pair{"default_qos", strconv.Quote(q)})
	}
	t.limits(&b, row, [][2]string{{"GrpTRES", ""}, {"GrpJobs", "group_jobs"}, {"GrpSubmit", "group_submit"},
		{"MaxTRES", ""}, {"MaxJobs", "max_jobs"}, {"MaxSubmit", "max_submit"}, {"MaxWall", "max_wall"},
		{"GrpCPUs", "group_cores"}, {"GrpNodes", "group_nodes"}, {"MaxCPUs", "max_cores"}, {"MaxNodes", "max_nodes"}})
	t.left(&b, row)
	if p := t.get(row, "Partition"); p != "" && !t.users[account+"/"+user] {
		t.unmodeledBy(&b, "Partition", p, "the association holds in all partitions")
	}
	if user == "" {
		if t.byName[account] != nil {
			t.problem(t.at, "the account %q is there twice: print the table of one cluster with  "+
				"sacctmgr -P show assoc cluster=NAME", account)
			return above
		}
		a := &accountBlock{block: b, parent: parent, at: t.at}
		if parent != "" && parent != "root" {
			a.Args = append(a.Args, pair{"parent", strconv.Quote(parent)})
		}
		t.accounts, t.byName[account] = append(t.accounts, a), a
		return append(above[:min(depth, len(above))], account)
	}
	a := t.byName[account]
	if a == nil && !t.late {
		own := *t
		own.late = true
		t.early = append(t.early, func() { own.assoc(row, nil) })
		return above
	}
	if a == nil {
		t.problem(t.at, "the user %q is in the account %q, which no line describes: print all associations with  "+
			"sacctmgr -P show assoc", user, account)
		return above
	}
	key := account + "/" + user
	switch p := t.get(row, "Partition"); {
	case !t.users[key]:
		t.users[key] = true
		a.Blocks = append(a.Blocks, b)
	case p != "":
		t.unmodeledBy(&b, "Partition", p, "the first association of the user counts in all partitions")
	case !slices.ContainsFunc(a.Blocks, func(o block) bool { return slices.Equal(o.Args, b.Args) && o.Label == b.Label }):
		t.problem(t.at, "the user %q is in the account %q twice: remove one of the lines", user, account)
	}
	return above
}

// check reads users that precede their accounts. It finds accounts without users, and accounts whose parents are
// missing.
func (t *sacctmgrOutput) check(m *clusterModel) {
	for _, read := range t.early {
		read()
	}
	used := map[string]bool{}
	for _, a := range t.accounts {
		if a.parent != "" {
			used[a.parent] = true
			if t.byName[a.parent] == nil {
				m.problem(a.at, "the account %q is below %q, which the table does not have: print all associations with  "+
					"sacctmgr -P show assoc", a.Label, a.parent)
			}
		}
	}
	for _, a := range t.accounts {
		above := t.byName[a.parent]
		for n := 0; above != nil && above != a && n < len(t.accounts); n++ {
			above = t.byName[above.parent]
		}
		if above == a {
			m.problem(a.at, "the account %q is above itself: correct its parent, %q", a.Label, a.parent)
		}
	}
	for _, q := range t.qos {
		for _, name := range q.preempts {
			if !t.names[name] {
				m.problem(q.at, "the qos %q preempts the qos %q, which the table does not have: print all of them with  "+
					"sacctmgr -P show qos", q.Label, name)
			}
		}
	}
	t.exempt(m)
	t.checkDefaultQOS(m)
	for i := range m.partitions {
		p := &m.partitions[i]
		if p.qos.value == "" || t.names[p.qos.value] {
			continue
		}
		if len(t.qos) > 0 {
			m.problem(p.qos, "the partition has the qos %q, which the table of sacctmgr does not have: print all of them "+
				"with  sacctmgr -P show qos", p.qos.value)
			continue
		}
		m.unmodeled(p.qos, fmt.Sprintf("QOS=%s of a partition: its limits are not known without  sacctmgr -P show qos",
			p.qos.value))
		p.Args = slices.DeleteFunc(p.Args, func(a pair) bool { return a.Name == "qos" })
	}
	for name, a := range t.byName {
		if len(a.Blocks) == 0 && !used[name] && name != "root" {
			m.unmodeled(a.at, fmt.Sprintf("the account %s has no users: no job can be in it", name))
		}
	}
}

// checkDefaultQOS notes accounts and users whose default qos no table has.
func (t *sacctmgrOutput) checkDefaultQOS(m *clusterModel) {
	check := func(at setting, b *block) {
		for _, a := range b.Args {
			name, err := strconv.Unquote(a.Value)
			if a.Name == "default_qos" && err == nil && len(t.qos) > 0 && !t.names[name] {
				m.unmodeledOf(at, fmt.Sprintf("the default qos %q of %s %s", name, b.Kind, b.name()), "default qos",
					"the table of sacctmgr does not have it, so it has the priority 0 and no limits")
			}
		}
	}
	for _, a := range t.accounts {
		check(a.at, &a.block)
		for i := range a.Blocks {
			check(a.at, &a.Blocks[i])
		}
	}
}

// exempt adds the PreemptExemptTime of slurm.conf to each quality of service that has none.
func (t *sacctmgrOutput) exempt(m *clusterModel) {
	d := m.time(m.settings, "PreemptExemptTime")
	if d <= 0 || none(m.get("PreemptType", "")) {
		return
	}
	if len(t.qos) == 0 {
		m.unmodeled(m.settings.at("PreemptExemptTime"), "PreemptExemptTime: without  sacctmgr -P show qos  jobs can "+
			"be preempted at once")
	}
	for i := range t.qos {
		q := &t.qos[i]
		if !slices.ContainsFunc(q.Args, func(a pair) bool { return a.Name == "exempt" }) {
			q.Args = append(q.Args, pair{"exempt", duration(d)})
		}
	}
}

// noteMissingFacts notes missing facts: time limits and accounts of the log, and qualities of service that no table
// has.
func (t *Twin) noteMissingFacts() {
	accounts, bare := len(t.tables.accounts) == 0, 0
	at := setting{file: t.log, line: 1}
	for i := range t.trace.Jobs {
		if t.trace.Jobs[i].Memory == 0 {
			bare++
		}
		s := t.trace.Jobs[i].Submission()
		accounts = accounts || s.Account != ""
		if s.QOS != "" && len(t.tables.qos) > 0 && !t.tables.names[s.QOS] {
			t.unmodeled(setting{file: t.log, line: int(t.trace.Lines[i])},
				fmt.Sprintf("the table of sacctmgr has no qos %s: jobs with this qos have the priority 0 and no limits "+
					"of the qos", s.QOS))
		}
	}
	if bare > 0 && t.consumesMemory() {
		t.unmodeled(at, fmt.Sprintf("jobs for which the file has no memory (%d; mem= in ReqTRES or AllocTRES, or "+
			"ReqMem) use no memory here; in Slurm, a job that requests no memory gets all memory of its nodes", bare))
	}
	if !accounts {
		t.unmodeled(at, "no job has an account (the column Account): limits and shares of accounts have no effect")
	}
}
