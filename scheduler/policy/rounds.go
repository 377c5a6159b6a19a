// Rounds has the orders that divide the time of devices of several types among all
// jobs, and decide at the start of each round who runs where: those of package shares. A job
// may go on in another round on devices of another type.
//
// The types are those of the GPUs of a cluster's nodes, in their order, and cores for jobs
// that run without GPUs. How fast a job is on each follows from the estimates that the policy
// is given: its work over its predicted run time there.

package policy

import (
	"errors"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/shares"
)

var (
	// Length is the argument of policies of rounds.
	Length = schema.Arg{
		Name: "rounds", Type: schema.Duration, Required: true, Positive: true, Least: time.Millisecond, Example: `"360s"`,
		Doc: "The length of the rounds, at whose starts the policy decides; at least 1ms. Jobs that keep their devices are " +
			"not interrupted. A round in which nothing runs any more is over.",
	}
	atOnce = schema.Arg{
		Name: "give_back", Type: schema.String, Default: `"round"`, Allowed: []string{"round", "at_once"},
		Example: `"at_once"`,
		Doc:     "When the devices of a job that ends within a round are given to others: at its end, or at once.",
	}
	recompute = schema.Arg{
		Name: "recompute", Type: schema.Duration, Default: `"0s"`, Example: `"1920s"`,
		Doc: "The least time between two divisions. Within it, jobs that have come have to wait, as in the simulator " +
			"of Gavel's authors even if devices are idle; unless nothing else would run and nobody else is to come, or " +
			"devices are given back at once. The division at the very start does not count.",
	}
	blind = schema.Arg{
		Name: "blind", Type: schema.String, DefaultDoc: "none: the policy knows the types", Example: `"v100"`,
		Doc: "The policy takes the jobs to be as fast on all types of devices as on this one, and goes through the " +
			"types in a random order, drawn anew for each round.",
	}
	seed = schema.Arg{
		Name: "type_seed", Type: schema.Integer, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(1 << 31), Example: `1`,
		Doc: "The seed of what a policy draws that is blind to types: from the Mersenne Twister, as Python does. The order " +
			"of the types is drawn with the seed 5 greater, as in the authors' simulator.",
	}
	global = schema.Arg{
		Name: "global_queue", Type: schema.Bool, Default: `false`, Example: `true`,
		Doc: "All pairs of a job and a type of device stand in one queue by their priority. Without it the policy goes " +
			"through the types one by one, in the order of the hardware, as the simulator of Gavel's authors does by " +
			"default: a job that takes what is left of a type may miss a later one that it was to have. With about as many " +
			"jobs as devices, or fewer, most jobs may then get much less than the policy gives them.",
	}
	packing = schema.Arg{
		Name: Packing, Type: schema.Bool, DefaultDoc: "`false`: each job has its GPUs to itself", Example: `true`,
		Doc: "Two jobs may share their GPUs, where it is known how fast they are beside each other: from a table of " +
			"`throughputs` with pairs, or `beside`. They ask for as many GPUs and threads; each has threads of its own.",
	}
	tolerance = schema.Arg{
		Name: "tolerance", Type: schema.Number, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(1), Example: `0.05`,
		Doc: "0 for the least makespan itself. With a tolerance it is searched for by halving, from 100 s to 1,000,000 s " +
			"and beyond if need be, until the bounds are within this part of each other: with 0.05 as in the program of Gavel's " +
			"authors.",
	}
	prices = schema.Arg{
		Name: "prices", Type: schema.Strings, DefaultDoc: "1 for each", Example: `["v100=2.48", "k80=0.45"]`,
		Doc: "The price of one device of each type for an hour.",
	}
)

func init() {
	for _, k := range shares.All() {
		settings := []schema.Arg{Length, atOnce, recompute, global, blind, seed}
		if k.Prices {
			settings = append(settings, prices)
		}
		if k.Tolerance {
			settings = append(settings, tolerance)
		}
		if k.Packs {
			settings = append(settings, packing)
		}
		RegisterOrder(OrderChoice{
			Choice: Choice{
				Name: k.Name, Title: k.Title, Doc: k.Doc, Place: 20 + k.Place, Version: 3, Estimates: true, Settings: settings,
				Check: packsBlindly,
				Wants: []Want{
					alone(k.Name, BackfillOf, NoBackfill), alone(k.Name, AllocationOf, Strict),
					alone(k.Name, PreemptionOf, NoPreemption),
					alone(k.Name, PlacementOf, PlaceFirst),
				},
			},
			New: func(s Setup) scheduler.Ranker { return newRoundPlanner(k, s) },
		})
	}
}

// packsBlindly refuses a policy that goes by the speeds of pairs, and knows no speeds.
func packsBlindly(s Settings) (arg string, err error) {
	like, _ := s[blind.Name].(string)
	if packs, _ := s[packing.Name].(bool); packs && like != "" {
		return packing.Name, errors.New("packing goes by how fast jobs are beside each other on each type of device, which " +
			"a blind policy does not know")
	}
	return "", nil
}

// alone is a want of an order that leaves no choice beside it.
func alone[T ~string](order string, q Question, name T) Want {
	return Want{Of: q, Name: string(name), Detail: "The order \"" + order +
		"\" decides by itself what runs in each round, and where: " + string(q) + " has no place beside it."}
}

// Rounds returns the length of a policy's rounds, and whether devices are given back at once.
func (p *roundPlanner) Rounds() (time.Duration, bool) {
	return p.Policy.Settings.Duration(Length.Name), p.Policy.Settings[atOnce.Name] == "at_once"
}
