package scheduler

// Training is what an elastic job knows of its own speed.
type Training interface {
	// Goodput returns how fast it expects to make progress on so many GPUs of a type (empty for
	// that on which it was measured) of so many nodes, with the best batch for them; 0 before it has run.
	Goodput(gpu string, nodes, gpus int) float64
	// MostGPUs returns the greatest number of GPUs that it has run on.
	MostGPUs() int
	// Limit returns the greatest number of GPUs that it can use.
	Limit() int
	// StepTime returns how long a step takes with the batch that its user asked for, on so
	// many GPUs of as few nodes of this size as can be; in seconds.
	StepTime(gpus, perNode int) float64
	// Steps returns how many such steps are left.
	Steps() float64
}

// Trainer is an engine that knows the trainings of elastic jobs.
type Trainer interface {
	// Training returns that of a job; nil for one that has none.
	Training(job int) Training
}
