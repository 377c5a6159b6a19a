package stages

import (
	"context"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// Decider makes the rules of a cell whose policy is more than its settings, such as a program that is asked.
type Decider interface {
	scheduler.SchedulingPolicy
	// Close ends the work that Rules began, and adds to the record of the cell; nil where no record is kept.
	Close(*record.Cell)
}

// deciders are by the order of the policy.
var deciders = map[string]func(context.Context, Task) Decider{}

// RegisterDecider has the rules of cells whose policies have an order made by a Decider.
func RegisterDecider(order string, of func(context.Context, Task) Decider) { deciders[order] = of }

// Decider returns the maker of the cell's rules.
func (t Task) Decider(ctx context.Context) Decider {
	if of := deciders[string(t.Policy.Order)]; of != nil {
		return of(ctx, t)
	}
	return settled{t.Policy}
}

// settled is a policy that is its settings alone.
type settled struct{ scheduler.SchedulingPolicy }

func (settled) Close(*record.Cell) {}
