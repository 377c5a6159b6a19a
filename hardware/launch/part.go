package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// EnvTF is the variable by which TensorFlow is told its place in a cluster.
const EnvTF = "TF_CONFIG"

// Programs returns the parts of a grant that are programs of their own: those of a job with roles. It is nil where one
// program has all of the grant. A part without cores of its own has those of the others on its node.
func Programs(g scheduler.Grant) []scheduler.Part {
	if g.Layout == nil || len(g.Layout.Parts) == 0 || g.Layout.Parts[0].Role == "" {
		return nil
	}
	parts := slices.Clone(g.Layout.Parts)
	for i := range parts {
		if len(parts[i].Cores) > 0 {
			continue
		}
		for _, other := range g.Layout.Parts {
			if other.Node == parts[i].Node {
				parts[i].Cores = parts[i].Cores.Union(other.Cores)
			}
		}
	}
	return parts
}

// PartName names a part of a job: "worker-1".
func PartName(p scheduler.Part) string { return fmt.Sprintf("%s-%d", p.Role, p.Task) }

// Addresses gives each part an address on a host of this machine, at a port that is free now.
func Addresses(host string, parts []scheduler.Part) (contract.Cluster, error) {
	cluster := contract.Cluster{}
	for _, p := range parts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, fmt.Errorf("find a free port for %s: %w", PartName(p), err)
		}
		defer l.Close() // when all have one, so that they differ
		for len(cluster[p.Role]) <= p.Task {
			cluster[p.Role] = append(cluster[p.Role], "")
		}
		cluster[p.Role][p.Task] = l.Addr().String()
	}
	return cluster, nil
}

// joined is a cluster in which a part has an address as well that the job did not have when it started: at a port
// that is free now, on the host of another part. The parts that were there before do not learn of it.
func joined(cluster contract.Cluster, p scheduler.Part) (contract.Cluster, error) {
	host := ""
	for _, role := range slices.Sorted(maps.Keys(cluster)) {
		for _, address := range cluster[role] {
			if h, _, err := net.SplitHostPort(address); host == "" && err == nil {
				host = h
			}
		}
	}
	own, err := Addresses(host, []scheduler.Part{p})
	if err != nil {
		return nil, err
	}
	all := maps.Clone(cluster)
	known := cluster[p.Role]
	all[p.Role] = slices.Concat(known, own[p.Role][min(len(known), p.Task):])
	return all, nil
}

// OfPart returns a part of the job as a program: the job with the cores of the part as its request, its place in the
// cluster in its environment, and files of its own. The log and the progress of the lead are those of the job.
func (j *Job) OfPart(p scheduler.Part, lead bool, cluster contract.Cluster) (Job, error) {
	if p.Task >= len(cluster[p.Role]) {
		var err error
		if cluster, err = joined(cluster, p); err != nil {
			return Job{}, err
		}
	}
	part := *j
	part.Threads, part.Inter, part.Intra = p.Cores.Count(), 0, 0
	part.GPUs, part.Alternatives = p.GPUs.Count(), nil
	if part.ControlPath != "" {
		part.ControlPath += "." + PartName(p)
	}
	if !lead {
		part.Events = nil
		if path, ok := strings.CutSuffix(part.LogPath, ".log"); ok {
			part.LogPath = path + "." + PartName(p) + ".log"
		} else if part.LogPath != "" {
			part.LogPath += "." + PartName(p)
		}
	}
	place, err := contract.Part{Role: p.Role, Task: p.Task, Cluster: cluster}.Environ()
	if err != nil {
		return Job{}, err
	}
	tf, err := tensorFlow(p, cluster)
	if err != nil {
		return Job{}, err
	}
	part.Env = Merge(place, []string{EnvTF + "=" + tf}, j.Env)
	return part, nil
}

// tensorFlow returns the value of TF_CONFIG for a part.
func tensorFlow(p scheduler.Part, cluster contract.Cluster) (string, error) {
	var config struct {
		Cluster contract.Cluster `json:"cluster"`
		Task    struct {
			Type  string `json:"type"`
			Index int    `json:"index"`
		} `json:"task"`
	}
	config.Cluster, config.Task.Type, config.Task.Index = cluster, p.Role, p.Task
	text, err := json.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", EnvTF, err)
	}
	return string(text), nil
}
