package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
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
