package stages

import (
	"context"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// Decider creates the rules of a cell whose policy needs more than settings, such as a program that makes decisions.
type Decider interface {
	scheduler.SchedulingPolicy
	// Close ends the work that Rules began, and adds to the cell's record. The record is nil if none is kept.
	Close(*record.Cell)
}

// deciders are by the name of the policy's order.
var deciders = map[string]func(context.Context, Task) Decider{}

// RegisterDecider sets the function that creates a Decider for policies with this order.
func RegisterDecider(order string, of func(context.Context, Task) Decider) { deciders[order] = of }

// Decider returns the Decider of the cell's policy.
func (t Task) Decider(ctx context.Context) Decider {
	if of := deciders[string(t.Policy.Order)]; of != nil {
		return of(ctx, t)
	}
	return settled{t.Policy}
}

// settled is the Decider of a policy that needs only settings.
type settled struct{ scheduler.SchedulingPolicy }

func (settled) Close(*record.Cell) {}
