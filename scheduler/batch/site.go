package batch

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

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
	members                           []*member // by job; nil before the first look at it
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
	for _, of := range slices.Sorted(maps.Keys(s.qos)) {
		q := s.qos[of]
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
	parent := s.accountOf(account)
	a := &association{Account: Account{Name: user, Shares: 1}, user: true, parent: parent}
	parent.children = append(parent.children, a)
	s.users[key] = a
	return a
}

// accountOf returns an account, which is added below the root when nobody has described it.
func (s *site) accountOf(name string) *association {
	if name == "" {
		return s.root
	}
	a := s.accounts[name]
	if a == nil {
		a = &association{Account: Account{Name: name, Shares: 1}, parent: s.root}
		s.accounts[name] = a
		s.root.children = append(s.root.children, a)
	}
	return a
}
