package decode

import "github.com/tfexp/tfexp/experiments/schema"

// threadKeys are the keys of a request for threads. An alternative accepts only the first three, because it is never
// malleable.
func threadKeys() []schema.Arg { return schema.Args[threadArgs]() }

type threadArgs struct {
	// The requested cores as one number, instead of `inter` and `intra`. There is one inter-op thread then.
	Request int `arg:"request" min:"1" max:"threads"`
	// Threads of the inter-op pool; the request is `inter + intra`.
	Inter int `arg:"inter" min:"1" max:"threads"`
	// Threads of the intra-op pool.
	Intra int `arg:"intra" min:"1" max:"threads"`
	// The fewest cores on which a malleable job runs.
	Min int `arg:"min" min:"1" max:"threads"`
	// The most cores that the job can use; at least the request.
	Max int `arg:"max" min:"1" max:"threads"`
}
