package batch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// clusterConfig holds the contents of the blocks of a policy.
type clusterConfig struct {
	partitions                        []*Partition
	reservations                      []*Reservation // ordered by their begin
	qos                               map[string]*QOS
	first                             *Partition // partition of jobs that name no partition
	root                              *association
	users                             map[[2]string]*association // by account and user
	accounts                          map[string]*association
	weight                            []int // by node
	features                          []map[string]bool
	mostFactor, mostQOS, mostPriority int
	members                           []*jobRecord // by job; nil before the record is needed
	run                               *scheduler.Run
	misfits                           []policy.Misfit // mistakes in the blocks
}

// association is an account, or a user in an account.
type association struct {
	Account
	user     bool
	parent   *association
	children []*association
	raw      float64 // decayed core seconds
	level    float64 // fairness among siblings: greater is first; without Fair Tree, the part of all usage that counts
	factor   float64 // fair-share factor of a user
	part     float64 // of the shares of its siblings, and
	whole    float64 // of all shares, without Fair Tree
	stale    bool    // level and factor are computed when they are needed
}

// jobRecord is the record of a job.
type jobRecord struct {
	sub         *scheduler.Submission
	partition   *Partition
	qos, over   *QOS // QOS of the job, and of its partition; nil for none
	assoc       *association
	reservation *Reservation // reservation that the job names; nil for none
	limit       time.Duration
	eligible    time.Duration // in the far future until it is known
	reason      string        // why the job can never start; empty if it can
	maxNodes    int
}

// exclusive reports whether the job shares its nodes with no other job.
func (m *jobRecord) exclusive() bool {
	return m.sub.Exclusive || m.partition != nil && m.partition.Exclusive
}

// newClusterConfig reads the blocks of a policy for a run.
func newClusterConfig(r *scheduler.Run, blocks []schema.Settings) *clusterConfig {
	cfg := &clusterConfig{
		qos: map[string]*QOS{}, users: map[[2]string]*association{}, accounts: map[string]*association{}, run: r,
		weight: make([]int, len(r.Cluster.Nodes)), features: make([]map[string]bool, len(r.Cluster.Nodes)),
		members: make([]*jobRecord, len(r.Jobs)),
	}
	cfg.root = &association{Account: Account{Name: "root", Shares: 1}}
	cfg.accounts["root"] = cfg.root
	for i := range cfg.weight {
		cfg.weight[i] = 1
	}
	names := map[string]int{}
	for i, n := range r.Cluster.Nodes {
		names[n.Name] = i
	}
	for i, b := range blocks {
		wrong := func(format string, args ...any) {
			cfg.misfits = append(cfg.misfits, policy.Misfit{Block: i, Job: -1, Err: fmt.Errorf(format, args...)})
		}
		switch b.Name {
		case "partition":
			cfg.addPartition(b, names, wrong)
		case "qos":
			q := &QOS{Name: b.Label}
			if schema.Fill(q, b.Args); cfg.qos[q.Name] != nil {
				wrong("the qos %q is there twice", q.Name)
			}
			cfg.qos[q.Name], cfg.mostQOS = q, max(cfg.mostQOS, q.Priority)
		case "account":
			cfg.addAccount(b, wrong)
		case "reservation":
			r := &Reservation{Name: b.Label, nodes: newBitmap(len(names))}
			if schema.Fill(r, b.Args); r.Until <= r.From {
				wrong("the reservation %q ends before it begins", r.Name)
			}
			r.nodes.take(cfg.named(r.Nodes, names, wrong), len(r.Nodes) == 0, len(cfg.run.Cluster.Nodes))
			cfg.reservations = append(cfg.reservations, r)
		case "node_set":
			cfg.addNodes(b, names, wrong)
		}
	}
	if len(cfg.partitions) == 0 {
		cfg.addPartition(schema.Settings{Label: "all", Args: map[string]any{"factor": 1, "tier": 1}}, names, nil)
	}
	for _, p := range cfg.partitions {
		if p.Default && cfg.first == nil {
			cfg.first = p
		}
	}
	if cfg.first == nil {
		cfg.first = cfg.partitions[0]
	}
	slices.SortStableFunc(cfg.reservations, func(a, b *Reservation) int { return cmp.Compare(a.From, b.From) })
	cfg.linkAccounts()
	cfg.checkReferences(blocks)
	return cfg
}

// checkReferences finds names in blocks that no block describes.
func (cfg *clusterConfig) checkReferences(blocks []schema.Settings) {
	for i, b := range blocks {
		qos := func(what, name string) {
			if name != "" && cfg.qos[name] == nil {
				cfg.misfits = append(cfg.misfits, policy.Misfit{Block: i, Job: -1, Err: fmt.Errorf(
					"the %s %q %s the qos %q, which no block describes", b.Name, BlockName(b), what, name)})
			}
		}
		switch b.Name {
		case "partition":
			qos("has", schema.Get[string](b, "qos"))
		case "qos":
			for _, name := range schema.Get[[]string](b, "preempts") {
				qos("preempts", name)
			}
		case "account":
			above, steps := schema.Get[string](b, "parent"), 0
			if above != "" && cfg.accounts[above] == nil {
				cfg.misfits = append(cfg.misfits, policy.Misfit{Block: i, Job: -1, Err: fmt.Errorf(
					"the account %q has the parent %q, which no block describes", BlockName(b), above)})
			}
			for a := cfg.accounts[BlockName(b)]; a != nil && a != cfg.root; a = a.parent {
				if steps++; steps > len(cfg.accounts) {
					cfg.misfits = append(cfg.misfits, policy.Misfit{Block: i, Job: -1,
						Err: fmt.Errorf("the account %q is above itself", BlockName(b))})
					break
				}
			}
		}
	}
}

// BlockName returns the name of the thing that a block of a policy describes.
func BlockName(b schema.Settings) string { return cmp.Or(schema.Get[string](b, "name"), b.Label) }

// firstMistake returns the first mistake in the blocks; nil for none.
func (cfg *clusterConfig) firstMistake() error {
	if len(cfg.misfits) == 0 {
		return nil
	}
	return fmt.Errorf("policy: %w", cfg.misfits[0].Err)
}

// misfitsOf returns the parts of a policy's blocks that do not fit a run: wrong references to blocks and nodes, and
// jobs that wait for each other.
func misfitsOf(p policy.Policy, r *scheduler.Run) []policy.Misfit {
	cfg := newClusterConfig(r, p.Blocks)
	if len(cfg.misfits) > 0 {
		return cfg.misfits
	}
	number := map[string]int{}
	for i := range r.Jobs {
		sub := r.Jobs[i].Submission()
		if sub == nil {
			continue
		}
		if len(cfg.partitions) > 1 && sub.Partition != "" &&
			!slices.ContainsFunc(cfg.partitions, func(p *Partition) bool { return p.Name == sub.Partition }) {
			cfg.misfits = append(cfg.misfits, policy.Misfit{Block: -1, Job: i, Err: fmt.Errorf(
				"the job %q names the partition %q, which no block describes", r.Jobs[i].Name, sub.Partition)})
		}
		if len(sub.After) > 0 && len(number) == 0 {
			for k := range r.Jobs {
				number[r.Jobs[k].Name] = k
			}
		}
	}
	if len(number) == 0 { // no job depends on another job
		return cfg.misfits
	}
	const fresh, open, done = 0, 1, 2
	state := make([]int, len(r.Jobs))
	next := make([]int, len(r.Jobs)) // index of the next dependency to visit, by job
	var path []int                   // path of dependencies: each job waits for the next one
	for i := range r.Jobs {
		if state[i] == fresh {
			path = append(path, i)
		}
		for len(path) > 0 {
			job := path[len(path)-1]
			state[job] = open
			sub := r.Jobs[job].Submission()
			if sub == nil || next[job] == len(sub.After) {
				state[job], path = done, path[:len(path)-1]
				continue
			}
			name := sub.After[next[job]]
			next[job]++
			k, known := number[name]
			wrong := policy.Misfit{Block: -1, Job: job}
			switch {
			case !known:
				hint := ""
				if _, first := number[name+"-1"]; first {
					hint = fmt.Sprintf(": a name has the number of the job, as in %q", name+"-1")
				}
				wrong.Err = fmt.Errorf("the job %q comes after %q, which is not a job of the workload%s", r.Jobs[job].Name, name, hint)
			case state[k] == open:
				wrong.Err = fmt.Errorf("the job %q comes after %q, which comes after it: neither can start", r.Jobs[job].Name, name)
			case state[k] == fresh:
				path = append(path, k)
			}
			if wrong.Err != nil {
				cfg.misfits = append(cfg.misfits, wrong)
			}
		}
	}
	return cfg.misfits
}

// mistakeReporter records a mistake in a block.
type mistakeReporter func(format string, args ...any)

func (cfg *clusterConfig) addPartition(b schema.Settings, names map[string]int, wrong mistakeReporter) {
	p := &Partition{Name: b.Label, nodes: newBitmap(len(names))}
	schema.Fill(p, b.Args)
	p.nodes.take(cfg.named(p.Nodes, names, wrong), len(p.Nodes) == 0, len(cfg.run.Cluster.Nodes))
	for _, other := range cfg.partitions {
		if other.Name == p.Name {
			wrong("the partition %q is there twice", p.Name)
		}
		if other.Default && p.Default {
			wrong("the partitions %q and %q are both the default", other.Name, p.Name)
		}
	}
	if p.MaxTime > 0 && p.DefaultTime > p.MaxTime {
		wrong("the partition %q has a default_time above its max_time", p.Name)
	}
	cfg.partitions, cfg.mostFactor = append(cfg.partitions, p), max(cfg.mostFactor, p.Factor)
}

// named returns the indexes of the nodes with some names.
func (cfg *clusterConfig) named(texts []string, names map[string]int, wrong mistakeReporter) (nodes []int) {
	for _, text := range texts {
		list, err := Hosts(text)
		if err != nil {
			wrong("nodes: %w", err)
		}
		for _, name := range list {
			if v, ok := names[name]; ok {
				nodes = append(nodes, v)
			} else {
				wrong("the hardware has no node %q", name)
				return nodes
			}
		}
	}
	return nodes
}

func (cfg *clusterConfig) addNodes(b schema.Settings, names map[string]int, wrong mistakeReporter) {
	var set NodeSet
	schema.Fill(&set, b.Args)
	for _, v := range cfg.named(set.Names, names, wrong) {
		if cfg.features[v] != nil {
			wrong("the node %q is in two blocks node_set", cfg.run.Cluster.Nodes[v].Name)
			return
		}
		cfg.weight[v], cfg.features[v] = set.Weight, map[string]bool{}
		for _, f := range set.Features {
			cfg.features[v][f] = true
		}
	}
}

// GPUFeature is the prefix of the feature of nodes with GPUs of a type: "gpu:a100". Such nodes have the feature without
// a block. Nodes whose GPUs have no type have the feature of every type, unless a block lists types.
const GPUFeature = "gpu:"

// alternatives returns the features a and b of "[a|b]": all nodes of a job must have the same one of them. It returns
// nil for a text without brackets.
func alternatives(feature string) []string {
	inner, is := strings.CutPrefix(feature, "[")
	if !is {
		return nil
	}
	return strings.Split(strings.TrimSuffix(inner, "]"), "|")
}

// has reports whether a node has a feature that a job asks for by name.
func (cfg *clusterConfig) has(node int, feature string) bool {
	if all := alternatives(feature); all != nil {
		return slices.ContainsFunc(all, func(one string) bool { return cfg.has(node, one) })
	}
	if one, others, several := strings.Cut(feature, "|"); several {
		return cfg.has(node, one) || cfg.has(node, others)
	}
	if cfg.features[node][feature] {
		return true
	}
	gpu, typed := strings.CutPrefix(feature, GPUFeature)
	n := &cfg.run.Cluster.Nodes[node]
	if !typed || n.GPUs == 0 {
		return false
	}
	if n.GPU != "" {
		return strings.EqualFold(n.GPU, gpu)
	}
	for f := range cfg.features[node] {
		if strings.HasPrefix(f, GPUFeature) {
			return false
		}
	}
	return true
}

// lacked returns the first feature of a job that no node has; empty for none.
func (cfg *clusterConfig) lacked(sub *scheduler.Submission) string {
	for _, f := range sub.Features {
		some := false
		for v := range cfg.features {
			some = some || cfg.has(v, f)
		}
		if !some {
			return f
		}
	}
	return ""
}

func (cfg *clusterConfig) addAccount(b schema.Settings, wrong mistakeReporter) {
	own := Account{Name: b.Label, Shares: 1}
	schema.Fill(&own, b.Args)
	a := cfg.accounts[own.Name]
	if a != nil && a != cfg.root {
		wrong("the account %q is there twice", own.Name)
	}
	if a == nil {
		a = &association{}
		cfg.accounts[own.Name] = a
	}
	a.Account = own
	cfg.mostPriority = max(cfg.mostPriority, a.Priority)
	for _, u := range b.Blocks {
		user := &association{Account: Account{Name: u.Label, Shares: 1}, user: true, parent: a}
		schema.Fill(&user.Account, u.Args)
		cfg.mostPriority = max(cfg.mostPriority, user.Priority)
		a.children = append(a.children, user)
		cfg.users[[2]string{own.Name, user.Name}] = user
	}
}

// linkAccounts connects accounts with their parents, in the order of their names.
func (cfg *clusterConfig) linkAccounts() {
	for _, name := range slices.Sorted(maps.Keys(cfg.accounts)) {
		a := cfg.accounts[name]
		if a == cfg.root {
			continue
		}
		if a.parent = cfg.accounts[a.Parent]; a.parent == nil {
			a.parent = cfg.root
		}
		a.parent.children = append(a.parent.children, a)
	}
}

// noSubmission is the submission of jobs without one.
var noSubmission scheduler.Submission

// NoLimit is the time limit of a job that asks for none: the partition's greatest limit counts.
const NoLimit = 365 * 24 * time.Hour

// recordOf returns the record of a job.
func (cfg *clusterConfig) recordOf(j *scheduler.Job) *jobRecord {
	if m := cfg.members[j.Number]; m != nil {
		return m
	}
	m := &jobRecord{eligible: j.Arrival, sub: cmp.Or(j.Submission(), &noSubmission)}
	cfg.members[j.Number] = m
	m.partition = cfg.first
	if name := m.sub.Partition; name != "" {
		i := slices.IndexFunc(cfg.partitions, func(p *Partition) bool { return p.Name == name })
		if i >= 0 {
			m.partition = cfg.partitions[i]
		} else if len(cfg.partitions) > 1 {
			m.reason = fmt.Sprintf("names the partition %q, which no block describes", name)
		}
	}
	if name := m.sub.Reservation; name != "" {
		if i := slices.IndexFunc(cfg.reservations, func(r *Reservation) bool { return r.Name == name }); i >= 0 {
			m.reservation = cfg.reservations[i] // a reservation without a block has no effect
		}
	}
	m.assoc = cfg.associationOf(m.sub.Account, j.User)
	name := m.sub.QOS
	for a := m.assoc; a != nil && name == ""; a = a.parent {
		name = a.DefaultQOS
	}
	m.qos = cfg.qos[name]
	if m.qos == nil {
		m.qos = &QOS{Name: name, UsageFactor: 1}
		cfg.qos[name] = m.qos
	}
	m.over = cfg.qos[m.partition.QOS]
	m.limit = m.sub.Limit
	if m.limit == 0 {
		m.limit = j.Predicted
	}
	if m.limit == 0 {
		m.limit = max(m.partition.DefaultTime, 0)
	}
	most := m.partition.MaxTime
	if m.limit == 0 || m.limit == NoLimit {
		m.limit = cmp.Or(most, NoLimit)
	}
	if most > 0 && m.limit > most {
		m.reason = fmt.Sprintf("asks for %s, and the partition %q gives %s at most", m.limit, m.partition.Name, most)
	}
	m.maxNodes = m.sub.MaxNodes
	if n := m.partition.MaxNodes; n > 0 && (m.maxNodes == 0 || n < m.maxNodes) {
		m.maxNodes = n
	}
	if n := m.partition.MaxNodes; n > 0 && m.sub.MinNodes > n {
		m.reason = fmt.Sprintf("asks for %d nodes, and the partition %q gives %d at most", m.sub.MinNodes, m.partition.Name, n)
	}
	if f := cfg.lacked(m.sub); f != "" && m.reason == "" {
		m.reason = fmt.Sprintf("asks for %q, which no node has", f)
	}
	return m
}

// Unstartable returns, for each job, why it can never start by the blocks of a policy; empty if it can.
func Unstartable(c scheduler.Cluster, blocks []schema.Settings, jobs []scheduler.Job) []string {
	cfg := newClusterConfig(&scheduler.Run{Cluster: c, Jobs: jobs}, blocks)
	reasons := make([]string, len(jobs))
	for i := range jobs {
		j := jobs[i]
		j.Number = i
		reasons[i] = cfg.recordOf(&j).reason
	}
	return reasons
}

// associationOf returns the association of a user in an account. It adds one if no block describes the user.
func (cfg *clusterConfig) associationOf(account, user string) *association {
	key := [2]string{account, user}
	if a := cfg.users[key]; a != nil {
		return a
	}
	parent := cfg.accountOf(account)
	a := &association{Account: Account{Name: user, Shares: 1}, user: true, parent: parent}
	parent.children = append(parent.children, a)
	cfg.users[key] = a
	return a
}

// accountOf returns an account. It adds the account below the root if no block describes it.
func (cfg *clusterConfig) accountOf(name string) *association {
	if name == "" {
		return cfg.root
	}
	a := cfg.accounts[name]
	if a == nil {
		a = &association{Account: Account{Name: name, Shares: 1}, parent: cfg.root}
		cfg.accounts[name] = a
		cfg.root.children = append(cfg.root.children, a)
	}
	return a
}
