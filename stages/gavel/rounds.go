// Package gavel has the orders of D. Narayanan, K. Santhanam, F. Kazhamiaka, A. Phanishayee, M. Zaharia (OSDI 2020),
// which package shares computes. They divide the time of devices of several types among all jobs, and decide at the
// start of each round where each job runs. A job may continue in another round on devices of another type.
//
// The types are the GPU types of a cluster's nodes, in their order, and cores for jobs that
// run without GPUs. A job's speed on a type is its work divided by its predicted run time
// there.
package gavel

import (
	"embed"
	"errors"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/gavel/shares"
)

// roundSettings are the arguments of the orders that divide the time of devices; the last three are of some of them.
type roundSettings struct {
	policy.RoundLength
	// When other jobs get the devices of a job that ends within a round: after the `round`, or `at_once`.
	//
	//	give_back = "at_once"
	GiveBack string `arg:"give_back" default:"round" allowed:"round at_once"`
	// The shortest time between two computations of the division. Within it, jobs that have come have to wait, as in
	// the simulator of Gavel's authors even if devices are idle; unless nothing else would run and nobody else is to
	// come, or devices are given back at once. The division at the very start does not count.
	//
	//	recompute = "1920s"
	Recompute time.Duration `arg:"recompute" default:"0s"`
	// Whether all pairs of a job and a type of device are in one queue by priority. Without it the policy goes through
	// the types one by one, in the order of the hardware, as the simulator of Gavel's authors does by default: a job
	// that takes the last devices of a type may miss a better type that comes later. With about as many jobs as
	// devices, or fewer, most jobs may then get much less than the policy gives them.
	//
	//	global_queue = true
	Global bool `arg:"global_queue" default:"false"`
	// The type of device by whose speed the policy decides, as if all types were equally fast; it tries types in a
	// random order.
	//
	// Default: none: the policy knows the types.
	//
	//	blind = "v100"
	Blind string `arg:"blind"`
	// The seed of the random order of types under `blind`, drawn as Python's Mersenne Twister does. The order of the
	// types is drawn with the seed 5 greater, as in the authors' simulator.
	//
	//	type_seed = 1
	Seed int `arg:"type_seed" default:"0" min:"0" max:"2147483648"`
	// The hourly price of a device of each type.
	//
	// Default: 1 for each.
	//
	//	prices = ["v100=2.48", "k80=0.45"]
	Prices []string `arg:"prices"`
	// The part by which the makespan may exceed the shortest one. With a tolerance it is searched for by halving, from
	// 100 s to 1,000,000 s and beyond if need be, until the bounds are within this part of each other: with 0.05 as in
	// the program of Gavel's authors.
	//
	//	tolerance = 0.05
	Tolerance float64 `arg:"tolerance" default:"0" min:"0" max:"1"`
	// Whether two jobs may share GPUs if their speeds together are known, from pairs in `throughputs` or from `beside`.
	// Both must ask for the same number of GPUs and threads; threads are not shared.
	//
	// Default: `false`: each job has its GPUs to itself.
	//
	//	packing = true
	Packing bool `arg:"packing"`
}

//go:embed rounds.go
var source embed.FS

func init() {
	for _, k := range shares.All() {
		settings := slices.DeleteFunc(schema.Described[roundSettings](source), func(a schema.Arg) bool {
			return a.Name == "prices" && !k.Prices || a.Name == "tolerance" && !k.Tolerance || a.Name == policy.Packing && !k.Packs
		})
		policy.RegisterOrder(policy.OrderChoice{
			Choice: policy.Choice{
				Name: k.Name, Title: k.Title, Doc: k.Doc, Place: 20 + k.Place, Version: 3 + k.Version,
				Estimates: true, Settings: settings,
				Check: packsBlindly,
				Wants: []policy.Want{
					alone(k.Name, policy.BackfillOf, policy.NoBackfill), alone(k.Name, policy.AllocationOf, policy.Strict),
					alone(k.Name, policy.PreemptionOf, policy.NoPreemption),
					alone(k.Name, policy.PlacementOf, policy.PlaceFirst),
				},
			},
			New: func(s policy.Setup) scheduler.Ranker { return newRoundPlanner(k, s) },
		})
	}
}

// packsBlindly returns an error for a policy that needs the speeds of pairs but ignores speeds.
func packsBlindly(s policy.Settings) (arg string, err error) {
	var set roundSettings
	s.Fill(&set)
	if set.Packing && set.Blind != "" {
		return policy.Packing, errors.New("packing needs the speeds of pairs of jobs on each type of device, which a blind " +
			"policy does not know")
	}
	return "", nil
}

// alone requires the answer name to a question about the policy: any other answer would contradict the order.
func alone[T ~string](order string, q policy.Question, name T) policy.Want {
	return policy.Want{Of: q, Name: string(name), Detail: "The order \"" + order +
		"\" decides by itself what runs in each round, and where: " + string(q) + " cannot be combined with it."}
}

// Rounds returns the length of a policy's rounds, and whether freed devices are used before the round ends.
func (p *roundPlanner) Rounds() (time.Duration, bool) {
	return p.set.Length, p.set.GiveBack == "at_once"
}
