package contract

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// The roles that training programs know.
const (
	// RoleServer is a parameter server: it holds a part of the weights.
	RoleServer = "ps"
	// RoleWorker computes gradients.
	RoleWorker = "worker"
	// RoleChief is a worker that also reports, writes the checkpoints and ends
	// the training. Where no part has this role, worker 0 does that.
	RoleChief = "chief"
)

// Part is a program's place among the parts of a job with roles.
type Part struct {
	// Role is the part's role, Task its index in that role, from 0.
	Role string
	Task int
	// Cluster has the addresses of all parts, this one included.
	Cluster Cluster
}

// Cluster is the addresses (host:port) of a job's parts: role → by task.
type Cluster map[string][]string

// Chief reports whether p is the part that speaks for the whole job.
func (p Part) Chief() bool {
	if len(p.Cluster[RoleChief]) > 0 {
		return p.Role == RoleChief && p.Task == 0
	}
	return p.Role == RoleWorker && p.Task == 0
}

// Address is the address of the part itself.
func (p Part) Address() string { return p.Cluster[p.Role][p.Task] }

// Environ is the environment that gives a program its part.
func (p Part) Environ() ([]string, error) {
	cluster, err := json.Marshal(p.Cluster)
	if err != nil {
		return nil, fmt.Errorf("write cluster: %w", err)
	}
	return []string{
		EnvRole + "=" + p.Role, EnvTask + "=" + strconv.Itoa(p.Task), EnvCluster + "=" + string(cluster),
	}, nil
}

// partFromEnv reads a program's part; it is zero where no role is set.
func partFromEnv(getenv func(string) string) (Part, error) {
	p := Part{Role: getenv(EnvRole)}
	if p.Role == "" {
		return Part{}, nil
	}
	if s := getenv(EnvTask); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return Part{}, fmt.Errorf("%s is %q, want a whole number of at least 0", EnvTask, s)
		}
		p.Task = n
	}
	if err := json.Unmarshal([]byte(getenv(EnvCluster)), &p.Cluster); err != nil {
		return Part{}, fmt.Errorf("%s is not a JSON object of role and list of addresses: %w", EnvCluster, err)
	}
	for role, addresses := range p.Cluster {
		for _, a := range addresses {
			if _, _, err := net.SplitHostPort(a); err != nil {
				return Part{}, fmt.Errorf("%s: role %s: %q is not an address host:port", EnvCluster, role, a)
			}
		}
	}
	if n := len(p.Cluster[p.Role]); p.Task >= n {
		return Part{}, fmt.Errorf("%s has %d parts of role %s, and this is number %d (from 0)",
			EnvCluster, n, p.Role, p.Task)
	}
	return p, nil
}

// Interval is how often something is done: every number of steps, every number of
// epochs, or every period of time. At most one of them is set.
type Interval struct {
	Steps, Epochs int
	Time          time.Duration
}

// ParseInterval reads "500steps", "2epochs" or a duration such as "10m"; nothing gives
// the zero interval: never.
func ParseInterval(s string) (Interval, error) {
	if s == "" {
		return Interval{}, nil
	}
	wrong := fmt.Errorf(`%q is not an interval, want one such as "500steps", "2epochs" or "10m"`, s)
	var i Interval
	for unit, to := range map[string]*int{"steps": &i.Steps, "epochs": &i.Epochs} {
		if count, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.Atoi(strings.TrimSpace(count))
			if err != nil || n < 1 {
				return Interval{}, wrong
			}
			*to = n
			return i, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return Interval{}, wrong
	}
	return Interval{Time: d}, nil
}

// String is the interval as ParseInterval reads it.
func (i Interval) String() string {
	switch {
	case i.Steps > 0:
		return strconv.Itoa(i.Steps) + "steps"
	case i.Epochs > 0:
		return strconv.Itoa(i.Epochs) + "epochs"
	case i.Time > 0:
		return i.Time.String()
	}
	return ""
}
