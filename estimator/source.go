package estimator

import "github.com/tfexp/tfexp/experiments/schema"

// RunTimeSource is a source from which a policy gets the run times of jobs: a value of the argument `estimates`.
type RunTimeSource struct {
	// Name is the value in the experiment file. Doc is a part of the sentence about estimates in the language
	// reference; Rank orders these parts.
	Name, Doc string
	Rank      int
	// Call is set if the value is written as a function of the standard deviation of its errors, such as noisy(0.2).
	Call bool
	// Fitted is set if estimates are fitted to samples (with random errors if the policy has a sigma), Asked if they
	// are the times that users requested, and True if they are the actual run times.
	Fitted, Asked, True bool
	// Follows is set if reports of running jobs correct the estimates.
	Follows bool
}

var sources = schema.NewRegistry("estimator: source", func(s RunTimeSource) string { return s.Name },
	func(s RunTimeSource) int { return s.Rank })

// RegisterSource registers a source and returns it.
func RegisterSource(s RunTimeSource) RunTimeSource { return sources.Add(s) }

// FindSource returns the source with a name, or the zero source.
func FindSource(name string) RunTimeSource {
	s, _ := sources.Find(name)
	return s
}

// RunTimeSources returns the sources in the order of their ranks.
func RunTimeSources() []RunTimeSource { return sources.All() }

func init() {
	RegisterSource(RunTimeSource{Name: "fitted", Rank: 10, Fitted: true, Doc: "from samples (`fitted`)"})
	RegisterSource(RunTimeSource{Name: "oracle", Rank: 20, True: true, Doc: "the true ones (`oracle`)"})
	RegisterSource(RunTimeSource{Name: "requested", Rank: 30, Asked: true, Doc: "the jobs' limits (`requested`)"})
	RegisterSource(RunTimeSource{Name: "noisy", Rank: 40, Fitted: true, Call: true,
		Doc: "the estimates of `fitted` with a random error (`noisy(sigma)`: sigma is the standard " +
			"deviation of the log error)"})
	RegisterSource(RunTimeSource{Name: "online", Rank: 50, Fitted: true, Follows: true,
		Doc: "the estimates of `fitted`, corrected by the progress that jobs report while they run " +
			"(`online`; or `online(sigma)`, to begin with such an error)"})
}
