package realise

// Alike lists the workloads with simulated cells in which nothing is drawn
// that could make replicates differ.
func (x *Experiment) Alike() []string { return x.spec.Alike() }

// LeftOut lists what lenient readers left out of the experiment's files.
func (x *Experiment) LeftOut() []string { return x.spec.LeftOut() }

// Assumed lists what readers of logs assumed where these say nothing.
func (x *Experiment) Assumed() []string { return x.spec.Assumed() }
