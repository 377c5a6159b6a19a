package goodput

// request is a possible request of a job.
type request struct{ batch, gpus, nodes int }

// Alone returns how many seconds the whole training takes on GPUs that are divided evenly over
// nodes, with a batch size, or with those that it chooses for 0.
func (p *MeasuredProgram) Alone(batch, gpus, nodes int) float64 {
	asked := request{batch, max(gpus, 1), max(nodes, 1)}
	p.lock.Lock()
	sum, ok := p.alone[asked]
	p.lock.Unlock()
	if ok {
		return sum
	}
	perNode := (asked.gpus + asked.nodes - 1) / asked.nodes
	r := NewMeasuredRun(p, batch)
	r.Place(FilledNodes(asked.gpus, perNode), 1)
	for sum = 0; !r.Done(); r.NextEpoch() {
		sum += r.Left()
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.alone == nil {
		p.alone = map[request]float64{}
	}
	p.alone[asked] = sum
	return sum
}

// FilledNodes returns GPUs by node where one node is filled after the other.
func FilledNodes(gpus, perNode int) (nodes []int) {
	for ; gpus > 0; gpus -= perNode {
		nodes = append(nodes, min(gpus, perNode))
	}
	return nodes
}
