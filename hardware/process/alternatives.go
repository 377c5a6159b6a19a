package process

// Request is a thread request: its total in cores, and its split into pools.
type Request struct {
	Threads, Inter, Intra int
}

// choose gives a job the request of the alternative that it starts with; false
// when there is none of that number.
func (j *Job) choose(alternative int) bool {
	if len(j.Alternatives) == 0 {
		return alternative == 0
	}
	if alternative < 0 || alternative >= len(j.Alternatives) {
		return false
	}
	r := j.Alternatives[alternative]
	j.Threads, j.Inter, j.Intra = r.Threads, r.Inter, r.Intra
	return true
}
