package contract

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// The roles of training programs.
const (
	// RoleServer is the role of parameter servers, which hold the weights.
	RoleServer = "ps"
	// RoleWorker is the role of parts that compute gradients.
	RoleWorker = "worker"
	// RoleChief is a worker that also reports, writes checkpoints and ends the training. If no part has this role,
	// worker 0 does this.
	RoleChief = "chief"
)

// Part identifies a program among the parts of a job with roles.
type Part struct {
	// Role is the part's role. Task is its index in that role, from 0.
	Role string
	Task int
	// Cluster has the addresses of all parts, including this one.
	Cluster Cluster
}

// Cluster has the addresses (host:port) of a job's parts, by role and then by task.
type Cluster map[string][]string

// Address returns the address of this part.
func (p Part) Address() string { return p.Cluster[p.Role][p.Task] }

// Environ returns the environment variables that describe the part to its program.
func (p Part) Environ() ([]string, error) {
	cluster, err := json.Marshal(p.Cluster)
	if err != nil {
		return nil, fmt.Errorf("write cluster: %w", err)
	}
	return []string{
		EnvRole + "=" + p.Role, EnvTask + "=" + strconv.Itoa(p.Task), EnvCluster + "=" + string(cluster),
	}, nil
}
