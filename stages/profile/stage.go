package profile

import (
	"context"

	"github.com/tfexp/tfexp/stages"
)

func init() {
	stages.Register(&stages.Stage{
		Name:   "profile",
		Writes: []stages.Artifact{stages.Samples},
		Run:    func(ctx context.Context, r *stages.Run) error { return r.Profile(ctx) },
	})
}
