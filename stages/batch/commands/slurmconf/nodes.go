package slurmconf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/stages/batch"
)

// hardware converts the lines of slurm.conf about nodes into groups of equal nodes.
func (m *clusterModel) hardware() {
	m.absentNodes()
	used := map[string]bool{}
	for _, l := range m.nodes {
		hosts := m.hosts(l[0], l[0].value)
		hosts = slices.DeleteFunc(hosts, func(host string) bool { return m.absent[host] })
		if len(hosts) == 0 {
			continue
		}
		for _, name := range []string{"CoreSpecCount", "CpuSpecList"} {
			if v := l.get(name); v != "" && v != "0" {
				m.unmodeled(l[0], fmt.Sprintf("NodeName=%s %s=%s: jobs can have these cores", l[0].value, name, v))
			}
		}
		if devices := l.get("Gres"); devices != "" {
			m.noteOtherGres(l, devices)
		}
		for _, part := range m.byDevices(l, hosts) {
			g := nodeGroup{hosts: part.hosts, Weight: m.whole(l, "Weight", 1)}
			stem, _, _ := strings.Cut(l[0].value, "[")
			g.Label = label(strings.Trim(stem, "-_. "))
			for base, n := g.Label, 2; used[g.Label]; n++ {
				g.Label = fmt.Sprintf("%s_%d", base, n)
			}
			used[g.Label] = true
			m.size(l, &g)
			m.devices(l, &g, part.devices)
			if f := l.get("Features") + l.get("Feature"); f != "" {
				g.Feature = append(g.Feature, strings.Split(f, ",")...)
			}
			for i, name := range g.names() {
				if m.name[g.hosts[i]] != "" {
					m.problem(l[0], "the node %s is there twice: remove it from one of the lines", g.hosts[i])
				}
				m.name[g.hosts[i]] = name
			}
			m.groups = append(m.groups, g)
		}
	}
	if len(m.groups) == 0 && len(m.absent) > 0 {
		m.problem(setting{file: m.path, line: 1}, "all nodes are down by their State= and DownNodes=: "+
			"write the state that they had at the time of the log in a copy, or give  sacctmgr -P show event")
	}
}

// cpus returns the CPUs of a node, as Slurm computes them: CPUs= counts if it is the number of sockets, cores or
// threads.
func (m *clusterModel) cpus(l settingsLine) int {
	boards, cores, threads := m.whole(l, "Boards", 1), m.whole(l, "CoresPerSocket", 1), m.whole(l, "ThreadsPerCore", 1)
	boards, cores, threads = max(boards, 1), max(cores, 1), max(threads, 1)
	cpus := m.whole(l, "CPUs", m.whole(l, "Procs", 0))
	sockets := m.whole(l, "Sockets", 0)
	each := m.whole(l, "SocketsPerBoard", 0)
	switch {
	case each > 0:
		sockets = boards * each
	case sockets == 0 && cpus >= cores*threads && cpus%(cores*threads) == 0:
		sockets = cpus / (cores * threads)
	case sockets == 0:
		sockets = boards
	}
	all := sockets * cores * threads
	if cpus == 0 || cpus == sockets || cpus == sockets*cores || cpus == all {
		return cmp.Or(cpus, all)
	}
	of := fmt.Sprintf("NodeName=%s CPUs=%d", l[0].value, cpus)
	if l.get("CoresPerSocket") == "" && l.get("ThreadsPerCore") == "" { // before version 20.11, CPUs= counted then
		m.unmodeledOf(l[0], of, "CPUs of sockets", fmt.Sprintf("new versions of Slurm count its sockets, %d, in place "+
			"of CPUs=", all))
		return cpus
	}
	m.unmodeledOf(l[0], of, "CPUs", fmt.Sprintf("neither its sockets, its cores nor its threads are so many, so the "+
		"node has %d CPUs, as in Slurm", all))
	return all
}

// size reads the cores and the memory of nodes.
func (m *clusterModel) size(l settingsLine, g *nodeGroup) {
	g.Args = append(g.Args, pair{"count", fmt.Sprint(len(g.hosts))}, pair{"threads", fmt.Sprint(m.cpus(l))})
	if !m.consumesMemory() {
		return
	}
	mb, own := m.whole(l, "RealMemory", 0), m.whole(l, "MemSpecLimit", 0)
	if mb == 0 {
		m.unmodeledOf(l[0], "NodeName="+l[0].value, "RealMemory", "without RealMemory= its memory is not counted, "+
			"and jobs can have any")
		return
	}
	if own >= mb {
		m.unmodeledOf(l.at("MemSpecLimit"), fmt.Sprintf("NodeName=%s MemSpecLimit=%d", l[0].value, own), "MemSpecLimit",
			"it is not below RealMemory, so it does not count, as in Slurm")
		own = 0
	}
	g.Args = append(g.Args, pair{"memory", strconv.Quote(fmt.Sprintf("%dMiB", mb-own))})
}

// consumesMemory reports whether memory is divided among jobs.
func (m *clusterModel) consumesMemory() bool {
	return strings.Contains(strings.ToLower(m.get("SelectTypeParameters", "")), "memory")
}

// defaultMemory returns the memory of jobs that ask for none, by partition; "*" is for all other partitions. It returns
// nil if memory is not a consumable resource.
func (m *clusterModel) defaultMemory() (all []schema.Setting) {
	if !m.consumesMemory() {
		return nil
	}
	add := func(partition string, l settingsLine) {
		for pair := range strings.SplitSeq(l.get("JobDefaults"), ",") {
			if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(name, "DefMemPerGPU") {
				at := l.at("JobDefaults")
				l = append(slices.Clone(l), setting{"DefMemPerGPU", value, at.file, at.line})
			}
		}
		for _, one := range [][2]string{{"DefMemPerNode", "node"}, {"DefMemPerCPU", "thread"}, {"DefMemPerGPU", "gpu"}} {
			if mb := m.whole(l, one[0], 0); mb > 0 { // the first one counts, as in Slurm
				all = append(all, schema.Setting{Name: partition, Value: fmt.Sprintf("%dMiB per %s", mb, one[1])})
				return
			}
		}
	}
	for _, p := range m.SlurmConf.partitions {
		add(p[0].value, p)
	}
	add("*", m.settings)
	return all
}

// defaultLimits returns the time limits of jobs without one, by partition; "*" is for all other partitions.
func (m *clusterModel) defaultLimits() (all []schema.Setting) {
	for _, p := range m.SlurmConf.partitions {
		limit := cmp.Or(m.time(p, "DefaultTime"), m.time(p, "MaxTime"), batch.NoLimit)
		all = append(all, schema.Setting{Name: p[0].value, Value: schema.FormatDuration(limit)})
	}
	return append(all, schema.Setting{Name: "*", Value: schema.FormatDuration(batch.NoLimit)})
}

// nodeStates has the states of nodes in Slurm. The value reports whether jobs can start on a node in that state.
var nodeStates = map[string]bool{"unknown": true, "idle": true, "allocated": true, "alloc": true, "mixed": true,
	"mix":        true,
	"completing": true, "comp": true, "planned": true, "plnd": true, "cloud": true, "external": true, "reserved": true,
	"resv": true, "down": false, "drain": false, "drained": false, "draining": false, "drng": false, "fail": false,
	"failing": false, "failg": false, "error": false, "future": false, "futr": false, "inval": false, "maint": false,
	"maintenance": false, "unk": true, "not_responding": false, "no_respond": false, "power": true, "perfctrs": true,
	"npc": true, "power_down": true, "powering_down": true, "powered_down": true, "power_up": true, "powering_up": true,
	"power_drain": false, "dynamic_norm": true, "dynamic_future": false, "blocked": false, "reboot": false,
	"reboot_requested": true, "reboot_issued": false, "invalid_reg": false}

// closed reports whether jobs cannot start on nodes in a state such as "IDLE+DRAIN*". unknown is a part of the text
// that is no state of Slurm.
func closed(text string) (away bool, unknown string) {
	for part := range strings.SplitSeq(text, "+") { // DOWN*+DRAIN
		up, ok := nodeStates[strings.ToLower(strings.TrimRight(part, "*~#!%$@^-"))]
		if !ok {
			return false, part
		}
		away = away || !up
	}
	return away, ""
}

// absentNodes finds the nodes on which no job can start, by the states in slurm.conf. A node that occurs in events
// counts as present, except during its events.
func (m *clusterModel) absentNodes() {
	leave := func(at setting, text, state, what string) {
		away, unknown := closed(state)
		if unknown != "" {
			m.problem(at, "%s State=%s: %q is no state of a node: write UNKNOWN, CLOUD, DOWN, DRAIN, FAIL, FAILING "+
				"or FUTURE", what,
				state, unknown)
			return
		}
		if strings.EqualFold(state, "CLOUD") {
			m.unmodeled(at, what+" State=CLOUD: these nodes are always on")
		}
		if !away {
			return
		}
		var gone, met []string
		for _, host := range m.hosts(at, text) {
			if m.met[host] {
				met = append(met, host)
			} else {
				gone, m.absent[host] = append(gone, host), true
			}
		}
		if len(gone) > 0 {
			m.unmodeled(at, fmt.Sprintf("%s State=%s: the nodes are left out (%s)", what, state,
				strings.Join(ranges(gone), ",")))
		}
		if len(met) > 0 {
			m.unmodeled(at, fmt.Sprintf("%s State=%s: nodes that events speak of are up except at the times of "+
				"these (%s)", what, state,
				strings.Join(ranges(met), ",")))
		}
	}
	there := map[string]bool{}
	for _, l := range m.nodes {
		for _, host := range m.hosts(l[0], l[0].value) {
			there[host] = true
		}
		if state := l.get("State"); state != "" {
			leave(l[0], l[0].value, state, "NodeName="+l[0].value)
		}
	}
	for _, l := range m.downNodes {
		for _, host := range m.hosts(l[0], l[0].value) {
			if !there[host] {
				m.unmodeled(l[0], fmt.Sprintf("DownNodes=%s: no line NodeName= describes %s", l[0].value, host))
			}
		}
		state := l.get("State")
		if state == "" {
			state = "DOWN"
		}
		leave(l[0], l[0].value, state, "DownNodes="+l[0].value)
	}
	for _, l := range m.shown {
		if there[l[0].value] {
			leave(l[0], l[0].value, l.get("State"), "scontrol show node: "+l[0].value)
		} else {
			m.problem(l[0], "no line NodeName= describes the node %s: use the slurm.conf of the time of the log",
				l[0].value)
		}
	}
}

// readNodes reads facts about nodes from a file other than slurm.conf: another configuration file, the output of
// scontrol show node, or events. whole reports whether the file contains nothing else.
func (t *Twin) readNodes(path, head string) (whole bool, err error) {
	if s := otherConf(path, head); s != "" {
		return true, t.readOther(path, s)
	}
	if shownNode(head) {
		return true, t.readShownNodes(path)
	}
	r := sacctmgrTable{clusterModel: t.clusterModel}
	return false, eachLine(path, func(n int, text string) {
		switch fields := strings.Split(text, "|"); {
		case headOf(text) == "event":
			r.kind, r.head = "event", fields
		case r.kind == "event" && len(fields) == len(r.head):
			if host := r.get(fields, "NodeName", "Node Name"); host != "" && r.elsewhere(fields) == "" {
				t.met[host] = true
			}
		default:
			r.kind = ""
		}
	})
}

// shownNode reports whether a line is the first line of the output of scontrol show node.
func shownNode(head string) bool {
	return strings.HasPrefix(head, "NodeName=") && (strings.Contains(head, " Arch=") || strings.Contains(head,
		" CoresPerSocket=") &&
		!strings.Contains(head, " Sockets=") && !strings.Contains(head, " CPUs="))
}

// readShownNodes reads the states of nodes from the output of scontrol show node. The sizes of nodes come from
// slurm.conf.
func (t *Twin) readShownNodes(path string) error {
	return eachLine(path, func(n int, text string) {
		fields := map[string]string{}
		fieldsOf(text, fields)
		t.judgeShown("scontrol show node", setting{file: path, line: n}, fields)
		if name := fields["NodeName"]; name != "" {
			t.shown = append(t.shown, settingsLine{{"NodeName", name, path, n}})
		}
		if state := fields["State"]; state != "" && len(t.shown) > 0 {
			last := &t.shown[len(t.shown)-1]
			*last = append(*last, setting{"State", state, path, n})
		}
	})
}

// noteOtherGres notes generic resources of nodes that are not GPUs, and GPUs that jobs do not consume.
func (m *clusterModel) noteOtherGres(l settingsLine, text string) {
	all, err := slurm.ParseGres(text)
	if err != nil {
		m.problem(l[0], "Gres=%s: %v", text, err)
	}
	for _, one := range all {
		switch {
		case one.Name != "gpu":
			m.unmodeled(l[0], fmt.Sprintf("Gres=%s: only GPUs are counted", written(one)))
		case one.Shared:
			m.unmodeled(l[0], fmt.Sprintf("Gres=%s: the twin gives such a shared GPU to one job at a time, like any "+
				"other GPU", written(one)))
		}
	}
}

// devices sets the GPUs of a group of nodes.
func (m *clusterModel) devices(l settingsLine, g *nodeGroup, all []slurm.Gres) {
	count, types := 0, []string(nil)
	for _, one := range all {
		count += one.Count
		types = append(types, one.Type)
	}
	types = slices.Compact(types)
	if count == 0 {
		return
	}
	g.gpus = all
	g.Args = append(g.Args, pair{"gpus", fmt.Sprint(count)})
	switch {
	case len(types) > 1:
		text := strings.Join(schema.Each(all, written), ",")
		if own := l.get("Gres"); own != "" && len(m.gres) == 0 {
			text = own
		}
		m.unmodeled(l[0], fmt.Sprintf("Gres=%s: all %d GPUs of a node count as one type, so a job may get GPUs of "+
			"another type than it requests",
			text, count))
		for _, gpu := range types {
			if gpu != "" {
				g.Feature = append(g.Feature, batch.GPUFeature+gpu)
			}
		}
	case types[0] != "":
		g.Args = append(g.Args, pair{"gpu", strconv.Quote(types[0])})
	}
}
