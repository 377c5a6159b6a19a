package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// A job with roles has one Job for each part, so that each part has its own size and node. The pods get their addresses
// only when they start, but each program needs all addresses before that. So the addresses are names: a Service without
// an address of its own gives each pod the name HOST.SERVICE, which the DNS server of the cluster resolves.

// partPort is the port on which each part listens. Each pod has its own network address, so that all may use the same.
const partPort = 2222

// Addresses implements launch.ProgramHands. The Service is created when the leading part starts.
func (h hands) Addresses(job int, parts []scheduler.Part, known contract.Cluster) (contract.Cluster, error) {
	e := h.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if known == nil {
		e.services[job] = objectPrefix + e.newStart()
	}
	addresses := contract.Cluster{}
	for _, p := range parts {
		for len(addresses[p.Role]) <= p.Task {
			addresses[p.Role] = append(addresses[p.Role], "")
		}
		addresses[p.Role][p.Task] = fmt.Sprintf("%s.%s:%d", hostName(p), e.services[job], partPort)
	}
	return addresses, nil
}

// hostName returns the name of a part as a host name. Different roles have different names.
func hostName(p scheduler.Part) string {
	name := nameOf(p.Role)
	if name != p.Role {
		sum := sha256.Sum256([]byte(p.Role))
		name += "-" + hex.EncodeToString(sum[:3])
	}
	return fmt.Sprintf("%s-%d", name, p.Task)
}

// serve creates the Service of a job with roles. It is deleted with o, the Job of the leading part.
func (e *Engine) serve(p *program, o *madeJob) error {
	create := e.on("create", "services", "")
	create.body = tree{"apiVersion": "v1", "kind": "Service",
		"metadata": meta{Name: p.service, Labels: e.labels(&p.Job), Owners: ownedBy(o)},
		// Parts look for each other before they are ready.
		"spec": tree{"clusterIP": "None", "publishNotReadyAddresses": true, "selector": map[string]string{labelService: p.service}}}
	return e.do(e.ctx, create, nil)
}
