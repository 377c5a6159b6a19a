package batch

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Partition is a set of nodes with rules for the jobs on them.
//
// A partition of the cluster: nodes, and what jobs on them may ask for. Partitions may share nodes. A job belongs to
// the partition that it names, or to the first with `default`. Read by the order `multifactor` and the backfill
// `periodic`.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  partition "short" {
//	    nodes    = ["n[9-16]"]
//	    tier     = 2
//	    max_time = "2m"
//	  }
//	}
type Partition struct {
	// The name, where it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// The nodes, by name; `n[1-16,20]` names several.
	//
	// Default: all.
	//
	//	nodes = ["n[1-12]"]
	Nodes []string `arg:"nodes"`
	// Jobs that name no partition belong to this one.
	//
	//	default = true
	Default bool `arg:"default" default:"false"`
	// Jobs of a higher tier come before all of a lower one, whatever their priorities.
	//
	//	tier = 2
	Tier int `arg:"tier" default:"1" min:"0" max:"65533"`
	// What the partition is worth in priorities: its factor is this value, as a part of the greatest of all partitions.
	//
	//	factor = 10
	Factor int `arg:"factor" default:"1" min:"0" max:"65533"`
	// The time limit of jobs that have none, and the longest that a job may have. A job that asks for more waits for ever.
	//
	// Default: no limit.
	//
	//	max_time = "1h"
	MaxTime time.Duration `arg:"max_time,positive"`
	// The time limit of jobs that ask for none.
	//
	// Default: `max_time`.
	//
	//	default_time = "10m"
	DefaultTime time.Duration `arg:"default_time,positive"`
	// The most nodes that a job may have; more are never given to it.
	//
	// Default: no bound.
	//
	//	max_nodes = 4
	MaxNodes int `arg:"max_nodes" min:"1" max:"nodes"`
	// The quality of service whose limits hold for all jobs of the partition together.
	//
	// Default: none.
	//
	//	qos = "short"
	QOS string `arg:"qos"`
	// What becomes of jobs that give way to those of a higher tier (`preemption_by = "partition"`).
	//
	// Default: that of the policy.
	//
	//	preempt_mode = "requeue"
	PreemptMode string `arg:"preempt_mode" allowed:"off requeue cancel suspend"`
	// How long a job that has to give way goes on.
	//
	//	grace = "1m"
	Grace time.Duration `arg:"grace" default:"0s"`

	nodes bitmap
}

// Limits bound the jobs of a user, an account or a quality of service.
type Limits struct {
	// The most cores, nodes and running jobs of all together, and the most jobs that wait or run.
	//
	// Default: no bound.
	//
	//	group_cores = 96
	GroupCores int `arg:"group_cores" min:"0" max:"1e9"`
	// The most nodes of all running jobs together.
	//
	// Default: no bound.
	//
	//	group_nodes = 8
	GroupNodes int `arg:"group_nodes" min:"0" max:"1e9"`
	// The most GPUs of all running jobs together.
	//
	// Default: no bound.
	//
	//	group_gpus = 8
	GroupGPUs int `arg:"group_gpus" min:"0" max:"1e9"`
	// The most running jobs of all together.
	//
	// Default: no bound.
	//
	//	group_jobs = 20
	GroupJobs int `arg:"group_jobs" min:"0" max:"1e9"`
	// The most jobs of all together that wait or run; others are refused when they come.
	//
	// Default: no bound.
	//
	//	group_submit = 100
	GroupSubmit int `arg:"group_submit" min:"0" max:"1e9"`
	// The most cores of one job.
	//
	// Default: no bound.
	//
	//	max_cores = 64
	MaxCores int `arg:"max_cores" min:"0" max:"1e9"`
	// The most nodes of one job.
	//
	// Default: no bound.
	//
	//	max_nodes = 4
	MaxNodes int `arg:"max_nodes" min:"0" max:"1e9"`
	// The most running jobs of a user.
	//
	// Default: no bound.
	//
	//	max_jobs = 2
	MaxJobs int `arg:"max_jobs" min:"0" max:"1e9"`
	// The most jobs of a user that wait or run; others are refused when they come.
	//
	// Default: no bound.
	//
	//	max_submit = 50
	MaxSubmit int `arg:"max_submit" min:"0" max:"1e9"`
	// The most cores of all running jobs of a user.
	//
	// Default: no bound.
	//
	//	max_cores_per_user = 128
	MaxCoresPerUser int `arg:"max_cores_per_user" min:"0" max:"1e9"`
	// The longest time limit of a job.
	//
	// Default: no bound.
	//
	//	max_wall = "24h"
	MaxWall time.Duration `arg:"max_wall,positive"`
}

// QOS is a quality of service.
//
// A quality of service that jobs ask for. Limits without `group_` hold for each user, or job.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  qos "high" {
//	    priority = 100
//	    preempts = ["low"]
//	  }
//	}
type QOS struct {
	// The name, where it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// What it is worth in priorities: its factor is this value, as a part of the greatest of all.
	//
	//	priority = 100
	Priority int `arg:"priority" default:"0" min:"0" max:"1e9"`
	// The qualities of service whose running jobs give way to jobs of this one (`preemption_by = "qos"`).
	//
	// Default: none.
	//
	//	preempts = ["low"]
	Preempts []string `arg:"preempts"`
	// What becomes of its jobs when they give way.
	//
	// Default: that of the policy.
	//
	//	preempt_mode = "cancel"
	PreemptMode string `arg:"preempt_mode" allowed:"off requeue cancel suspend"`
	// How long a job that has to give way goes on, and for how long after its start no job has to.
	//
	//	grace = "1m"
	Grace time.Duration `arg:"grace" default:"0s"`
	// For how long after its start a job need not give way.
	//
	//	exempt = "10m"
	Exempt time.Duration `arg:"exempt" default:"0s"`
	// What an hour counts for fair shares.
	//
	//	usage_factor = 0.5
	UsageFactor float64 `arg:"usage_factor" default:"1" min:"0" max:"1e6"`
	Limits
}

// Account is an account with users, or a user of one.
//
// An account, with its part of the machine, its users and their limits. Accounts may have a parent.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  account "physics" {
//	    shares      = 50
//	    group_cores = 96
//	    user "ada" { shares = 3 }
//	  }
//	}
type Account struct {
	// The name, where it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// Its part of what its parent has, relative to its siblings.
	//
	//	shares = 50
	Shares int `arg:"shares" default:"1" min:"0" max:"1e9"`
	// The account above it.
	//
	// Default: the root of all accounts.
	//
	//	parent = "science"
	Parent string `arg:"parent"`
	// What its jobs have in priorities (`weight_association`), as a part of the greatest of all.
	//
	//	priority = 10
	Priority int `arg:"priority" default:"0" min:"0" max:"1e9"`
	// The quality of service of jobs that ask for none.
	//
	// Default: that of the account above, or `normal`.
	//
	//	default_qos = "low"
	DefaultQOS string `arg:"default_qos"`
	Limits
}

// NodeSet says more of nodes.
//
// What batch systems know of nodes beside their size.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  node_set "fast" {
//	    names    = ["n[1-4]"]
//	    weight   = 10
//	    features = ["ib"]
//	  }
//	}
type NodeSet struct {
	// The nodes, by name; `n[1-16,20]` names several.
	//
	//	names = ["n[1-4]"]
	Names []string `arg:"names,required"`
	// Nodes with less weight are taken first.
	//
	//	weight = 10
	Weight int `arg:"weight" default:"1" min:"0" max:"1e9"`
	// What jobs may ask for by name.
	//
	// Default: none.
	//
	//	features = ["ib"]
	Features []string `arg:"features"`
}

//go:embed *.go
var source embed.FS

func init() {
	schema.Document("batch", source)
	account := schema.Of[Account](schema.Block{Name: "account", Label: "name"})
	user := schema.Of[Account](schema.Block{Name: "user", Label: "name"})
	user.Example, user.Doc = "", "A user of the account, with the limits of this user in it."
	user.Args = slices.DeleteFunc(user.Args, func(a schema.Arg) bool { return a.Name == "parent" })
	account.Blocks = []*schema.Block{user}
	for _, b := range []*schema.Block{
		schema.Of[Partition](schema.Block{Name: "partition", Label: "name"}), schema.Of[QOS](schema.Block{Name: "qos", Label: "name"}),
		account, schema.Of[NodeSet](schema.Block{Name: "node_set", Label: "name"}),
	} {
		schema.BringInto("policy", b.Name, b)
	}
}

// site is what the blocks of a policy say.
type site struct {
	partitions                        []*Partition
	qos                               map[string]*QOS
	first                             *Partition // of jobs that name none
	root                              *association
	users                             map[[2]string]*association // by account and user
	accounts                          map[string]*association
	weight                            []int // by node
	features                          []map[string]bool
	mostFactor, mostQOS, mostPriority int
	members                           []*member // by job, once they were asked for
	run                               *scheduler.Run
}

// association is an account, or a user in one.
type association struct {
	Account
	user     bool
	parent   *association
	children []*association
	raw      float64 // decayed core seconds
	level    float64 // fairness among siblings: greater is first
	factor   float64
}

// member is what the site knows of a job.
type member struct {
	sub       scheduler.Submission
	partition *Partition
	qos, over *QOS // its own, and that of its partition; nil for none
	assoc     *association
	limit     time.Duration
	eligible  time.Duration // in the far future before it is
	reason    string        // why it can never start
	maxNodes  int
}

// newSite reads the blocks of a policy for a run.
func newSite(r *scheduler.Run, blocks []schema.Settings) (*site, error) {
	s := &site{
		qos: map[string]*QOS{}, users: map[[2]string]*association{}, accounts: map[string]*association{}, run: r,
		weight: make([]int, len(r.Cluster.Nodes)), features: make([]map[string]bool, len(r.Cluster.Nodes)),
		members: make([]*member, len(r.Jobs)),
	}
	s.root = &association{Account: Account{Name: "root", Shares: 1}}
	s.accounts["root"] = s.root
	for i := range s.weight {
		s.weight[i] = 1
	}
	names := map[string]int{}
	for i, n := range r.Cluster.Nodes {
		names[n.Name] = i
	}
	for _, b := range blocks {
		var err error
		switch b.Name {
		case "partition":
			err = s.addPartition(b, names)
		case "qos":
			q := &QOS{Name: b.Label}
			schema.Fill(q, b.Args)
			s.qos[q.Name], s.mostQOS = q, max(s.mostQOS, q.Priority)
		case "account":
			s.addAccount(b)
		case "node_set":
			err = s.addNodes(b, names)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(s.partitions) == 0 {
		if err := s.addPartition(schema.Settings{Label: "all", Args: map[string]any{"factor": 1, "tier": 1}}, names); err != nil {
			return nil, err
		}
	}
	for _, p := range s.partitions {
		if p.Default && s.first == nil {
			s.first = p
		}
		if p.QOS != "" && s.qos[p.QOS] == nil {
			return nil, fmt.Errorf("policy: the partition %q has the qos %q, which no block describes", p.Name, p.QOS)
		}
	}
	if s.first == nil {
		s.first = s.partitions[0]
	}
	for _, q := range s.qos {
		for _, name := range q.Preempts {
			if s.qos[name] == nil {
				return nil, fmt.Errorf("policy: the qos %q preempts %q, which no block describes", q.Name, name)
			}
		}
	}
	return s, s.join()
}

func (s *site) addPartition(b schema.Settings, names map[string]int) error {
	p := &Partition{Name: b.Label, nodes: newBitmap(len(names))}
	schema.Fill(p, b.Args)
	if len(p.Nodes) == 0 {
		p.nodes.fill(len(s.run.Cluster.Nodes))
	}
	for _, text := range p.Nodes {
		list, err := Hosts(text)
		if err != nil {
			return fmt.Errorf("policy: the partition %q: %w", p.Name, err)
		}
		for _, name := range list {
			i, ok := names[name]
			if !ok {
				return fmt.Errorf("policy: the partition %q has the node %q, which the hardware has not", p.Name, name)
			}
			p.nodes.set(i)
		}
	}
	s.partitions, s.mostFactor = append(s.partitions, p), max(s.mostFactor, p.Factor)
	return nil
}

func (s *site) addNodes(b schema.Settings, names map[string]int) error {
	var set NodeSet
	schema.Fill(&set, b.Args)
	var list []string
	for _, text := range set.Names {
		some, err := Hosts(text)
		if err != nil {
			return fmt.Errorf("policy: nodes %q: %w", b.Label, err)
		}
		list = append(list, some...)
	}
	for _, name := range list {
		i, ok := names[name]
		if !ok {
			return fmt.Errorf("policy: there is a block for the node %q, which the hardware has not", name)
		}
		s.weight[i], s.features[i] = set.Weight, map[string]bool{}
		for _, f := range set.Features {
			s.features[i][f] = true
		}
	}
	return nil
}

func (s *site) addAccount(b schema.Settings) {
	own := Account{Name: b.Label, Shares: 1}
	schema.Fill(&own, b.Args)
	a := s.accounts[own.Name]
	if a == nil {
		a = &association{}
		s.accounts[own.Name] = a
	}
	a.Account = own
	s.mostPriority = max(s.mostPriority, a.Priority)
	for _, u := range b.Blocks {
		user := &association{Account: Account{Name: u.Label, Shares: 1}, user: true, parent: a}
		schema.Fill(&user.Account, u.Args)
		s.mostPriority = max(s.mostPriority, user.Priority)
		a.children = append(a.children, user)
		s.users[[2]string{own.Name, user.Name}] = user
	}
}

// join makes the accounts a tree, in the order of their names.
func (s *site) join() error {
	var names []string
	for name := range s.accounts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		a := s.accounts[name]
		if a == s.root {
			continue
		}
		a.parent = s.root
		if a.Parent != "" {
			if a.parent = s.accounts[a.Parent]; a.parent == nil {
				return fmt.Errorf("policy: the account %q has the parent %q, which no block describes", name, a.Parent)
			}
		}
		a.parent.children = append(a.parent.children, a)
	}
	for _, name := range names {
		steps := 0
		for a := s.accounts[name]; a != nil; a = a.parent {
			if steps++; steps > len(names) {
				return fmt.Errorf("policy: the account %q is above itself", name)
			}
		}
	}
	return nil
}

// of returns what the site knows of a job.
func (s *site) of(j *scheduler.Job) *member {
	if m := s.members[j.Number]; m != nil {
		return m
	}
	m := &member{eligible: j.Arrival}
	s.members[j.Number] = m
	if sub := j.Submission(); sub != nil {
		m.sub = *sub
	}
	m.partition = s.first
	if name := m.sub.Partition; name != "" {
		i := slices.IndexFunc(s.partitions, func(p *Partition) bool { return p.Name == name })
		if i >= 0 {
			m.partition = s.partitions[i]
		} else if len(s.partitions) > 1 {
			m.reason = fmt.Sprintf("names the partition %q, which no block describes", name)
		}
	}
	m.assoc = s.associationOf(m.sub.Account, j.User)
	name := m.sub.QOS
	for a := m.assoc; a != nil && name == ""; a = a.parent {
		name = a.DefaultQOS
	}
	m.qos = s.qos[name]
	if m.qos == nil {
		m.qos = &QOS{Name: name, UsageFactor: 1}
		s.qos[name] = m.qos
	}
	m.over = s.qos[m.partition.QOS]
	m.limit = m.sub.Limit
	if m.limit == 0 {
		m.limit = j.Predicted
	}
	if m.limit == 0 {
		m.limit = max(m.partition.DefaultTime, 0)
	}
	if m.limit == 0 {
		m.limit = m.partition.MaxTime
	}
	if m.limit == 0 {
		m.limit = 365 * 24 * time.Hour
	}
	most := m.partition.MaxTime
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
	return m
}

// associationOf returns the user in an account, who is added when nobody has described them.
func (s *site) associationOf(account, user string) *association {
	key := [2]string{account, user}
	if a := s.users[key]; a != nil {
		return a
	}
	parent := s.accounts[account]
	if parent == nil {
		parent = s.root
		if account != "" {
			parent = &association{Account: Account{Name: account, Shares: 1}, parent: s.root}
			s.accounts[account] = parent
			s.root.children = append(s.root.children, parent)
		}
	}
	a := &association{Account: Account{Name: user, Shares: 1}, user: true, parent: parent}
	parent.children = append(parent.children, a)
	s.users[key] = a
	return a
}

// Hosts expands names of hosts with ranges in brackets: "n[1-3,07-08],login" names six.
func Hosts(text string) ([]string, error) {
	var all []string
	for text != "" {
		end, depth := len(text), 0
		for i, c := range text {
			if c == '[' {
				depth++
			} else if c == ']' {
				depth--
			} else if c == ',' && depth == 0 {
				end = i
				break
			}
		}
		one := text[:end]
		text = strings.TrimPrefix(text[end:], ",")
		open, rest, some := strings.Cut(one, "[")
		if !some {
			all = append(all, one)
			continue
		}
		list, tail, closed := strings.Cut(rest, "]")
		if !closed {
			return nil, fmt.Errorf("%q has no closing bracket", one)
		}
		tails, err := Hosts(tail)
		if err != nil {
			return nil, err
		}
		if len(tails) == 0 {
			tails = []string{""}
		}
		for _, span := range strings.Split(list, ",") {
			lo, hi, ranged := strings.Cut(span, "-")
			if !ranged {
				hi = lo
			}
			from, err1 := strconv.Atoi(lo)
			to, err2 := strconv.Atoi(hi)
			if err1 != nil || err2 != nil || to < from || to-from > schema.MaxNodes {
				return nil, fmt.Errorf("%q is no range of numbers", span)
			}
			for n := from; n <= to; n++ {
				for _, t := range tails {
					all = append(all, fmt.Sprintf("%s%0*d%s", open, len(lo), n, t))
				}
			}
		}
	}
	return all, nil
}
