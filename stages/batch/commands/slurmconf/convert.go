package slurmconf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/stages/batch"
)

// pair is an argument of the experiment language, with its value as HCL.
type pair struct{ Name, Value string }

// nodeGroup is a group of equal nodes, which become one node block of the hardware.
type nodeGroup struct {
	Label   string
	Args    []pair
	hosts   []string
	gpus    []slurm.Gres // GPUs of each node
	Weight  int
	Feature []string
}

// names returns the names of the group's nodes in the experiment.
func (g *nodeGroup) names() []string {
	if len(g.hosts) == 1 {
		return []string{g.Label}
	}
	all := make([]string, len(g.hosts))
	for i := range all {
		all[i] = fmt.Sprintf("%s-%d", g.Label, i+1)
	}
	return all
}

// hasGPU reports whether the nodes have, or may have, GPUs of a type.
func (g *nodeGroup) hasGPU(gpu string) bool {
	some, typed := false, false
	for _, a := range g.Args {
		some = some || a.Name == "gpus"
		if a.Name == "gpu" {
			return strings.EqualFold(a.Value, strconv.Quote(gpu))
		}
	}
	for _, f := range g.Feature {
		typed = typed || strings.HasPrefix(f, batch.GPUFeature)
	}
	return some && (!typed || slices.Contains(g.Feature, batch.GPUFeature+gpu))
}

// block is a block of the policy, such as a partition or a quality of service.
type block struct {
	Kind, Label string
	Args        []pair
	Blocks      []block
	preempts    []string // qualities of service that this one preempts
	at, qos     setting  // the position of the block, and the QOS= setting of a partition
}

// name returns the name of the partition, account or other thing that the block describes.
func (b *block) name() string {
	for _, a := range b.Args {
		if a.Name == "name" {
			if name, err := strconv.Unquote(a.Value); err == nil {
				return name
			}
		}
	}
	return b.Label
}

// clusterModel is a configuration of Slurm, converted to blocks and arguments of the experiment language.
type clusterModel struct {
	*SlurmConf
	groups     []nodeGroup
	name       map[string]string // name of a node in the experiment, by host name
	absent     map[string]bool   // hosts on which no job can start
	met        map[string]bool   // hosts that occur in events
	shown      []settingsLine    // nodes from the output of scontrol show node
	policy     []pair
	partitions []block
	closures   []nodeClosure
	usual      string // the default partition
	linear     bool   // whether each job gets whole nodes
	enforced
}

// enforced holds the parts of AccountingStorageEnforce that a twin models.
type enforced struct{ associations, limits bool }

// enforcement reads which rules of accounts the controller enforces.
func (m *clusterModel) enforcement() {
	s := m.find("AccountingStorageEnforce")
	if s == nil {
		return
	}
	for _, word := range words(strings.ToLower(s.value)) {
		switch word {
		case "none", "0":
		case "associations", "1", "qos", "wckeys":
			m.associations = true
		case "limits", "2", "safe", "all":
			m.associations, m.limits = true, true
		case "nojobs", "nosteps":
			m.unmodeled(*s, "AccountingStorageEnforce="+word+": the accounting has no jobs, or none of their steps")
		default:
			m.problem(*s, "AccountingStorageEnforce has no value %q: write associations, limits, qos, safe, wckeys, "+
				"nojobs, nosteps or all", word)
		}
	}
}

// nearestName suggests the name that is closest to another.
func nearestName(name string, names []string) string {
	if n := schema.Nearest(name, names); n != "" {
		return fmt.Sprintf(" Did you mean %s?", n)
	}
	return ""
}

// newModel returns an empty model of a configuration. convert fills it.
func newModel(c *SlurmConf) *clusterModel {
	return &clusterModel{SlurmConf: c, name: map[string]string{}, absent: map[string]bool{}, met: map[string]bool{}}
}

// convert converts the part of the configuration that the twin models.
func (m *clusterModel) convert() {
	c := m.SlurmConf
	if len(c.nodes)+len(c.partitions) == 0 {
		c.Problems = append(c.Problems, fmt.Errorf(
			"%s: no line begins with NodeName= or PartitionName=: is this the slurm.conf of the controller?", c.path))
		return
	}
	c.judge(scopes["slurm.conf"], c.settings, "slurm.conf", "")
	m.enforcement()
	m.hardware()
	m.priorities()
	m.schedulers()
	m.preemption()
	for _, p := range c.partitions {
		m.partition(p)
	}
	if len(c.nodes) == 0 {
		c.Problems = append(c.Problems, fmt.Errorf(
			"%s: no line begins with NodeName=: is this the slurm.conf of the controller?", c.path))
	}
	if len(c.partitions) == 0 {
		c.Problems = append(c.Problems, fmt.Errorf(
			"%s: no line begins with PartitionName=: is this the slurm.conf of the controller?", c.path))
	}
}

// words divides a list with commas or white space.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// none reports whether a value of a parameter means that the parameter is off.
func none(value string) bool {
	v := strings.ToLower(value)
	return v == "" || v == "0" || v == "none" || v == "(null)" || v == "no" || strings.HasSuffix(v, "/none") ||
		v == "topology/default"
}

func list(items []string) string {
	return "[" + strings.Join(schema.Each(items, strconv.Quote), ", ") + "]"
}

// label turns a name into a valid label of a block.
func label(name string) string {
	var b strings.Builder
	for i, r := range name {
		ok := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || i > 0 && (r == '-' || r >= '0' && r <= '9')
		if !ok {
			r = '_'
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// written writes a generic resource in the form of Gres= in slurm.conf.
func written(g slurm.Gres) string {
	parts := []string{g.Name}
	if g.Type != "" {
		parts = append(parts, g.Type)
	}
	if g.Shared {
		parts = append(parts, "no_consume")
	}
	return strings.Join(append(parts, strconv.Itoa(g.Count)), ":")
}

// duration writes a time as a literal of the experiment language.
func duration(d time.Duration) string { return strconv.Quote(schema.FormatDuration(d)) }

func (m *clusterModel) set(name, value string) { m.policy = append(m.policy, pair{name, value}) }

// priorities converts the parameters of priority/multifactor.
func (m *clusterModel) priorities() {
	m.set("order", strconv.Quote("multifactor"))
	if kind := m.get("PriorityType", "priority/basic"); kind != "priority/multifactor" {
		if kind != "priority/basic" {
			m.unmodeled(*m.find("PriorityType"), "PriorityType="+kind+": jobs come in the order of their submission")
		}
		return
	}
	for _, w := range [][2]string{
		{"PriorityWeightAge", "weight_age"}, {"PriorityWeightFairshare", "weight_fair_share"},
		{"PriorityWeightJobSize", "weight_size"}, {"PriorityWeightPartition", "weight_partition"},
		{"PriorityWeightQOS", "weight_qos"}, {"PriorityWeightAssoc", "weight_association"},
	} {
		if n := m.whole(m.settings, w[0], 0); n > 0 {
			m.set(w[1], fmt.Sprint(n))
		}
	}
	times := func(name, arg string, standard time.Duration) {
		if s := m.find(name); s != nil {
			standard = m.time(m.settings, name)
		}
		m.set(arg, duration(standard))
	}
	times("PriorityMaxAge", "max_age", 7*24*time.Hour)
	times("PriorityDecayHalfLife", "half_life", 7*24*time.Hour)
	times("PriorityCalcPeriod", "recalculate", 5*time.Minute)
	if strings.EqualFold(m.get("PriorityFavorSmall", "NO"), "YES") {
		m.set("favor_small", "true")
	}
	if text := m.get("PriorityWeightTRES", ""); text != "" {
		var all []string
		for one := range strings.SplitSeq(text, ",") {
			name, value, _ := strings.Cut(strings.ToLower(one), "=")
			switch name {
			case "cpu", "node", "mem", "gres/gpu":
				all = append(all, fmt.Sprintf("%s = %s", strings.TrimPrefix(name, "gres/"), strconv.Quote(value)))
			default:
				m.unmodeled(*m.find("PriorityWeightTRES"), "PriorityWeightTRES "+one+": it counts nothing")
			}
		}
		m.set("weights_resources", "{ "+strings.Join(all, ", ")+" }")
	}
	for flag := range strings.SplitSeq(m.get("PriorityFlags", ""), ",") {
		switch {
		case strings.EqualFold(flag, "NO_FAIR_TREE"):
			m.set("fair_tree", "false")
			if n := m.whole(m.settings, "FairShareDampeningFactor", 1); n > 1 {
				m.set("fair_share_damping", fmt.Sprint(n))
			}
		case flag != "" && !strings.EqualFold(flag, "FAIR_TREE"):
			m.unmodeled(*m.find("PriorityFlags"), "PriorityFlags="+flag+": priorities are computed without it")
		}
	}
	if !m.limits && m.whole(m.settings, "PriorityWeightFairshare", 0) > 0 {
		m.set("charge", strconv.Quote("updates"))
	}
	if s := m.find("PriorityUsageResetPeriod"); s != nil && !none(s.value) {
		m.unmodeled(*s, "PriorityUsageResetPeriod="+s.value+": usage decays, and is not reset")
	}
}

// schedulers converts SchedulerParameters.
func (m *clusterModel) schedulers() {
	m.set("phase", strconv.Quote("random"))
	m.set("backfill", strconv.Quote("periodic"))
	m.set("estimates", strconv.Quote("requested"))
	if s := m.find("SchedulerType"); s != nil && s.value != "sched/backfill" {
		m.unmodeled(*s, "SchedulerType="+s.value+": rounds of backfill are held all the same, every 365 days")
		m.set("backfill_interval", strconv.Quote("8760h"))
	}
	switch s := m.find("SelectType"); {
	case s == nil:
		m.problem(setting{file: m.path, line: 1}, "there is no SelectType: Slurm before 23.11 gives jobs whole nodes then "+
			"(select/linear), later versions cores (select/cons_tres). Write the one that  scontrol show config  prints")
	case strings.EqualFold(s.value, "select/linear"):
		m.linear = true
	case !strings.HasPrefix(strings.ToLower(s.value), "select/cons_"):
		m.problem(*s, "SelectType=%s: which nodes it gives to jobs is not known. Write select/linear (whole nodes) or "+
			"select/cons_tres (cores) in a copy to go on", s.value)
	}
	for _, p := range words(m.get("SelectTypeParameters", "")) {
		switch strings.ToLower(p) {
		case "cr_lln":
			m.set("least_loaded", "true")
		case "cr_core", "cr_core_memory", "cr_cpu", "cr_cpu_memory", "cr_one_task_per_core", "cr_core_default_dist_block",
			"ll_shared_gres", "multiple_sharing_gres_pj", "enforce_binding_gres", "one_task_per_sharing_gres",
			"no_normalize_billing", "other_cons_res", "other_cons_tres": // they decide about places within a node
		case "cr_memory", "cr_socket", "cr_socket_memory":
			if !m.linear {
				m.unmodeled(*m.find("SelectTypeParameters"), "SelectTypeParameters="+p+": jobs have cores of their own, as "+
					"many as the log says")
			}
		default:
			m.unmodeled(*m.find("SelectTypeParameters"), "SelectTypeParameters="+p+": jobs fill nodes that follow each other")
		}
	}
	seconds := map[string]string{"bf_interval": "backfill_interval", "bf_resolution": "backfill_resolution",
		"sched_interval": "queue_interval", "batch_sched_delay": "submit_delay"}
	counts := map[string]string{"default_queue_depth": "queue_depth", "bf_max_job_test": "backfill_depth",
		"bf_max_job_part": "backfill_depth_partition", "bf_max_job_user": "backfill_depth_user",
		"bf_max_job_start": "backfill_starts"}
	idle := []string{"bf_continue", "bf_yield_interval", "bf_yield_sleep", "bf_max_time", "max_rpc_cnt",
		"sched_min_interval", "sched_max_job_start", "pack_serial_at_end", "bf_max_job_array_resv", "max_script_size",
		"enable_user_top",
		"nohold_on_prolog_fail", "bf_node_space_size", "max_array_tasks", "build_queue_timeout"}
	for one := range strings.SplitSeq(m.get("SchedulerParameters", ""), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		name = strings.ToLower(name)
		at := m.find("SchedulerParameters")
		n, err := strconv.Atoi(value)
		switch {
		case name == "":
		case (name == "bf_interval" || name == "sched_interval") && err == nil && n < 0:
			m.unmodeled(*at, fmt.Sprintf("SchedulerParameters=%s: here this scheduler runs once in 365 days, not never", one))
			m.set(seconds[name], strconv.Quote("8760h"))
		case name == "bf_window" && err == nil && n > 0:
			m.set("backfill_window", duration(time.Duration(n)*time.Minute))
		case name == "assoc_limit_stop":
			m.set("limits_block", "true")
		case seconds[name] != "" && err == nil && n > 0:
			m.set(seconds[name], duration(time.Duration(n)*time.Second))
		case counts[name] != "" && err == nil && n >= 0:
			m.set(counts[name], value)
		case (seconds[name]+counts[name] != "" || name == "bf_window") && err == nil:
			m.unmodeled(*at, fmt.Sprintf("SchedulerParameters=%s: Slurm refuses this number and uses its default", one))
		case seconds[name]+counts[name] != "" || name == "bf_window":
			m.problem(*at, "SchedulerParameters: %s=%s is no whole number", name, value)
		case !slices.Contains(idle, name):
			m.unmodeled(*at, "SchedulerParameters="+one+": the schedulers work without it")
		}
	}
}

// preemption converts the parameters that decide which jobs can be preempted, and how.
func (m *clusterModel) preemption() {
	switch kind := m.get("PreemptType", "preempt/none"); kind {
	case "preempt/none":
	case "preempt/qos":
		m.set("preemption_by", strconv.Quote("qos"))
	case "preempt/partition_prio":
		m.set("preemption_by", strconv.Quote("partition"))
	default:
		m.unmodeled(*m.find("PreemptType"), "PreemptType="+kind+": no job gives way")
	}
	if mode := m.mode(m.settings, "PreemptMode"); mode != "" {
		m.set("preempt_mode", strconv.Quote(mode))
	}
	if m.get("PreemptType", "preempt/none") != "preempt/none" {
		again := m.whole(m.settings, "KillWait", 30) + m.whole(m.settings, "MessageTimeout", 10)
		m.set("preempt_again", duration(time.Duration(again)*time.Second))
	}
	// Without an Epilog, nodes report the end of a job at once, and the controller looks at the queue later.
	if m.get("Epilog", "") == "" {
		m.set("look_at_ends", "false")
	} else {
		m.set("release", duration(time.Second))
	}
	m.set("release_stopped", duration(3750*time.Millisecond)) // a measured mean: slurmd checks at growing intervals
	over := time.Duration(m.whole(m.settings, "OverTimeLimit", 0)) * time.Minute
	if unlimited(m.get("OverTimeLimit", "")) {
		over = batch.NoLimit
	}
	wait := m.whole(m.settings, "KillWait", 30)
	m.set("over_limit", duration(over+time.Duration(wait+60)*time.Second))
}

// mode returns the policy's name for a PreemptMode.
func (m *clusterModel) mode(l settingsLine, name string) string {
	out := ""
	for one := range strings.SplitSeq(strings.ToLower(l.get(name)), ",") {
		switch one {
		case "requeue", "cancel", "suspend", "off":
			out = one
		case "gang", "within", "", "cluster":
		default:
			m.unmodeled(l.at(name), fmt.Sprintf("%s=%s: the default of the cluster counts", name, one))
		}
	}
	return out
}

// partition converts a line of slurm.conf about a partition.
func (m *clusterModel) partition(l settingsLine) {
	b := block{Kind: "partition", Label: label(l[0].value)}
	add := func(name, value string) { b.Args = append(b.Args, pair{name, value}) }
	if b.Label != l[0].value {
		add("name", strconv.Quote(l[0].value))
	}
	text := l.get("Nodes")
	if text == "" {
		m.unmodeled(l[0], fmt.Sprintf("the partition %s has no nodes (Nodes=): no job can be in it", l[0].value))
		return
	}
	if !strings.EqualFold(text, "ALL") {
		var nodes []string
		for _, host := range m.members(l[0], text) {
			name := m.name[host]
			if m.absent[host] {
				continue
			}
			if name == "" {
				m.problem(l[0], "the partition %s has the node %s, which no line NodeName= describes: add it, or remove it "+
					"here", l[0].value, host)
				return
			}
			nodes = append(nodes, name)
		}
		if len(nodes) == 0 {
			m.unmodeled(l[0], fmt.Sprintf("the partition %s has only nodes that are left out: no job can be in it",
				l[0].value))
			return
		}
		add("nodes", list(ranges(nodes)))
	}
	most, usual := m.time(l, "MaxTime"), m.time(l, "DefaultTime")
	if most > 0 && usual > most {
		m.unmodeled(l[0], fmt.Sprintf("PartitionName=%s DefaultTime=%s is above MaxTime=%s: it does not count, as in "+
			"Slurm", l[0].value, l.get("DefaultTime"), l.get("MaxTime")))
		usual = 0
	}
	if least, n := m.whole(l, "MinNodes", 0), m.whole(l, "MaxNodes", 0); n > 0 && least > n {
		m.problem(l[0], "the partition %s has MinNodes=%d above MaxNodes=%d: lower it", l[0].value, least, n)
	}
	if m.yes(l, "Default") {
		if m.usual != "" {
			m.unmodeled(l[0], fmt.Sprintf("PartitionName=%s Default=YES: it is the default in place of %s, as in Slurm",
				l[0].value, m.usual))
			for i := range m.partitions {
				m.partitions[i].Args = slices.DeleteFunc(m.partitions[i].Args, func(a pair) bool { return a.Name == "default" })
			}
		}
		m.usual = l[0].value
		add("default", "true")
	}
	if most > 0 {
		add("max_time", duration(most))
	}
	if usual > 0 {
		add("default_time", duration(usual))
	}
	for _, x := range [][2]string{{"PriorityTier", "tier"}, {"PriorityJobFactor", "factor"}} {
		if n := m.whole(l, "Priority", m.whole(l, x[0], 1)); n != 1 { // Priority counts for both, as in Slurm
			add(x[1], fmt.Sprint(n))
		}
	}
	if n := m.whole(l, "MaxNodes", 0); n > 0 {
		add("max_nodes", fmt.Sprint(n))
	}
	if mode := m.mode(l, "PreemptMode"); mode != "" {
		add("preempt_mode", strconv.Quote(mode))
	}
	if n := m.whole(l, "GraceTime", 0); n > 0 {
		add("grace", duration(time.Duration(n)*time.Second))
	}
	if q := l.get("QOS"); q != "" && !none(q) {
		add("qos", strconv.Quote(q))
		b.qos = l.at("QOS")
	}
	if m.shared(l); m.linear || strings.EqualFold(cmp.Or(l.get("OverSubscribe"), l.get("Shared")), "EXCLUSIVE") {
		add("exclusive", "true")
	}
	m.partitions = append(m.partitions, b)
}

// shared notes a state or a way of sharing nodes that a partition has and the twin does not model. A partition that is
// down still counts as up: the log has jobs that it accepted.
func (m *clusterModel) shared(l settingsLine) {
	for _, s := range l[1:] {
		value, note := strings.ToUpper(s.value), ""
		switch strings.ToLower(s.name) {
		case "state":
			if value != "UP" {
				note = "the partition is taken to be up"
			}
		case "oversubscribe", "shared":
			if value != "NO" && value != "EXCLUSIVE" {
				note = "cores are never shared"
			}
		case "exclusive":
			if value == "USER" || value == "TOPO" {
				note = "nodes are shared all the same"
			}
		}
		if note != "" {
			m.unmodeled(s, fmt.Sprintf("PartitionName=%s %s=%s: %s", l[0].value, s.name, s.value, note))
		}
	}
}

// members returns the hosts in a list of node names and node sets.
func (m *clusterModel) members(at setting, text string) (all []string) {
	for _, host := range m.hosts(at, text) {
		i := slices.IndexFunc(m.nodeSets, func(l settingsLine) bool { return l[0].value == host })
		if i < 0 {
			all = append(all, host)
			continue
		}
		if nodes := m.nodeSets[i].get("Nodes"); nodes != "" {
			all = append(all, m.hosts(m.nodeSets[i][0], nodes)...)
		}
		for _, g := range m.groups {
			if slices.Contains(g.Feature, m.nodeSets[i].get("Feature")) {
				all = append(all, g.hosts...)
			}
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(host string) bool {
		twice := seen[host]
		seen[host] = true
		return twice
	})
}

// ranges joins consecutive names: "n-1", "n-2" become "n-[1-2]".
func ranges(names []string) []string {
	var out []string
	for i := 0; i < len(names); {
		stem, n := cut(names[i])
		k := i + 1
		for k < len(names) && n >= 0 {
			s, v := cut(names[k])
			if s != stem || v != n+k-i {
				break
			}
			k++
		}
		if k == i+1 {
			out = append(out, names[i])
		} else {
			out = append(out, fmt.Sprintf("%s[%d-%d]", stem, n, n+k-i-1))
		}
		i = k
	}
	return out
}

// cut divides a name into its stem and the number at its end; the number is -1 if there is none.
func cut(name string) (string, int) {
	stem := strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(stem):])
	if err != nil || len(name)-len(stem) > 1 && name[len(stem)] == '0' {
		return name, -1
	}
	return stem, n
}
