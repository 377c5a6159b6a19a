package simulated

// Factor is what the noise multiplies a job's run time by; 1 without noise. An
// oracle knows it.
func (o Options) Factor(job string) float64 {
	if o.Noise == 0 {
		return 1
	}
	return noise(o, job)
}
