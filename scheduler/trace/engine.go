package trace

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Engine carries decisions out. Job numbers are those of the cell.
//
// An error from Start means that this job could not be started; the loop
// records the job as failed and goes on. An error from the other methods ends
// the run, unless the job has ended in the meantime, which an engine reports
// by returning nil and giving notice of the end through Next.
type Engine interface {
	Start(job int, grant cluster.Grant) error
	Pause(job int) error
	Resume(job int, grant cluster.Grant) error
	Resize(job int, grant cluster.Grant) error
	// Stop ends a job for good: it checkpoints if it can, and notice of its end follows.
	Stop(job int) error
	// Next waits until there is something to give notice of or the engine's
	// clock has reached until, whichever comes first. It returns the present
	// instant and what has happened by then, in the order of CompareNotices;
	// the slice is valid until the next call. A virtual engine jumps there. It
	// returns ctx.Err() when the context is done first.
	Next(ctx context.Context, until time.Duration) (now time.Duration, news []Notice, err error)
}

// Capabilities says what an engine can do.
type Capabilities struct {
	Pause  bool
	Resize bool
	Memory bool
	GPUs   bool
	// Migrate lets paused jobs go on on other nodes.
	Migrate bool
}
