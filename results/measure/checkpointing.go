package measure

// Checkpointing is what the time of a job depends on that saves its work and loses its servers, for pictures. Times
// are in seconds.
type Checkpointing struct {
	// Job is the class of the jobs, Hardware where they run.
	Job      string `json:"job"`
	Hardware string `json:"hardware"`
	// Between is the mean time between losses of what the job holds.
	Between float64 `json:"between_s"`
	// Cost is that of a checkpoint, Restart the time to begin again after a loss, and Work the time that the whole takes
	// without either.
	Cost    float64 `json:"cost_s"`
	Restart float64 `json:"restart_s"`
	Work    float64 `json:"work_s"`
}
