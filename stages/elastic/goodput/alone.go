package goodput

// request is the arguments of Alone, whose results are cached.
type request struct{ batch, gpus, nodes int }

// Alone returns the seconds that the whole training takes on GPUs that are divided evenly over nodes. batch is the
// batch size; if it is 0, the run chooses it.
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

// FilledNodes returns the number of GPUs by node if nodes are filled one after the other.
func FilledNodes(gpus, perNode int) (nodes []int) {
	for ; gpus > 0; gpus -= perNode {
		nodes = append(nodes, min(gpus, perNode))
	}
	return nodes
}
