// Source has the registry of the sources of a policy's run times: the
// values of estimates =.

package estimator

import "github.com/tfexp/tfexp/experiments/schema"

// Source is one source of a policy's run times of jobs.
type RunTimeSource struct {
	// Name is the value that users write; Doc is its part of the sentence on
	// estimates in the language reference, and Rank its place there.
	Name, Doc string
	Rank      int
	// Call is set when users write it with the standard deviation of its errors
	// alone, as noisy(0.2).
	Call bool
	// Fitted is set when estimates begin with a fit to samples, with an error if
	// the policy has a sigma. Asked is set when they are the users' requested
	// times, and True when they are the actual run times.
	Fitted, Asked, True bool
	// Follows is set when reports of running jobs correct estimates.
	Follows bool
}

var sources = schema.NewRegistry("estimator: source", func(s RunTimeSource) string { return s.Name },
	func(s RunTimeSource) int { return s.Rank })

// RegisterSource adds a source.
func RegisterSource(s RunTimeSource) RunTimeSource { return sources.Add(s) }

// FindSource returns the source of a name; the zero source for none.
func FindSource(name string) RunTimeSource {
	s, _ := sources.Find(name)
	return s
}

// RunTimeSources lists the sources by their ranks.
func RunTimeSources() []RunTimeSource { return sources.All() }

func init() {
	RegisterSource(RunTimeSource{Name: "fitted", Rank: 10, Fitted: true, Doc: "from samples (`fitted`)"})
	RegisterSource(RunTimeSource{Name: "oracle", Rank: 20, True: true, Doc: "the true ones (`oracle`)"})
	RegisterSource(RunTimeSource{Name: "requested", Rank: 30, Asked: true, Doc: "the jobs' limits (`requested`)"})
	RegisterSource(RunTimeSource{Name: "noisy", Rank: 40, Fitted: true, Call: true,
		Doc: "fitted ones with an error (`noisy(sigma)`, the standard deviation of the log error)"})
	RegisterSource(RunTimeSource{Name: "online", Rank: 50, Fitted: true, Follows: true,
		Doc: "ones that begin as fitted and follow what jobs report while they run (`online`, or `online(sigma)` to " +
			"begin with such an error)"})
}
