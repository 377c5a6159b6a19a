// Package law predicts how fast a cluster of workers with parameter servers trains.
//
// Asynchronous workers pull the weights from the parameter servers, compute, and push their gradients. They are
// independent of each other until the parameter servers have no time left: then more workers only wait longer. Both
// limits of the law come from a closed queueing network of N customers with one server (P. J. Denning, J. P. Buzen,
// "The operational analysis of queueing network models", 1978): N workers have at most N times the speed of one,
// and never more than the server's rate. A smooth minimum joins the ends.
package law

import (
	"fmt"
	"math"
)

// Form is the form of a law: how time at the parameter servers affects workers.
type Form string

const (
	// Queued counts the service at the parameter servers as a part of each worker's step, even when no worker waits for
	// it: a worker of rate r alone with parameter servers that serve P steps/s makes 1/(1/r + 1/P) steps/s. These are
	// the asymptotic bounds of Denning and Buzen, and the default.
	Queued Form = "queued"
	// Apart lets workers compute and be served at the same time: a worker of rate r makes r steps/s up to the limit.
	Apart Form = "apart"
)

// Forms lists all forms, the default first.
var Forms = []Form{Queued, Apart}

// Rate is the speed of one worker.
type Rate struct {
	// Device is the device type, such as "K80".
	Device string
	// StepsPerSecond is the worker's speed if parameter servers take no time. It is positive.
	StepsPerSecond float64
}

// Worker is a worker of a cluster.
type Worker struct {
	Device string
	// Factor multiplies its speed. It is 1 for a worker in the region of its parameter server.
	Factor float64
}

// Law is the speed of clusters that train one model.
type Law struct {
	Form  Form
	Rates []Rate
	// Limit is how many steps per second one parameter server can serve; 0 or +Inf means no limit.
	Limit float64
	// Exponent is how the limit grows with servers: n parameter servers serve Limit·n^Exponent steps per second.
	Exponent float64
	// Sharpness is how abruptly the speed reaches the limit when workers are added. It is positive.
	Sharpness float64
}

// Check returns an error for an invalid law.
func (l Law) Check() error {
	switch {
	case len(l.Rates) == 0:
		return fmt.Errorf("no type of device has a rate")
	case !(l.Limit >= 0) || !(l.Sharpness > 0) || math.IsNaN(l.Exponent):
		return fmt.Errorf("a limit of %v, an exponent of %v and a sharpness of %v", l.Limit, l.Exponent, l.Sharpness)
	}
	for _, r := range l.Rates {
		if !(r.StepsPerSecond > 0) || math.IsInf(r.StepsPerSecond, 1) {
			return fmt.Errorf("%v steps/s of %s", r.StepsPerSecond, r.Device)
		}
	}
	return nil
}

// Rate returns the steps per second of a worker on a device type; false if the law lacks the type.
func (l Law) Rate(device string) (float64, bool) {
	for _, r := range l.Rates {
		if r.Device == device {
			return r.StepsPerSecond, true
		}
	}
	return 0, false
}

// Serves returns how many steps per second the parameter servers can serve. It returns +Inf if there is no limit, and
// for a job without parameter servers, which has a single worker.
func (l Law) Serves(servers int) float64 {
	if servers <= 0 || l.Limit <= 0 {
		return math.Inf(1)
	}
	return l.Limit * math.Pow(float64(servers), l.Exponent)
}

// Speed returns the steps per second of all workers together:
//
//	(S^-p + P^-p)^(-1/p)
//
// where S is the sum over the workers, P the rate of the parameter servers, and p the sharpness. A job without
// parameter servers keeps its weights where it works: its worker is served as by one server that no other worker
// uses. Workers on devices that the law does not know add nothing.
func (l Law) Speed(workers []Worker, servers int) float64 {
	serves, each, sum := l.Serves(servers), l.Serves(max(servers, 1)), 0.0
	for _, w := range workers {
		rate, ok := l.Rate(w.Device)
		if rate *= w.Factor; !ok || !(rate > 0) {
			continue
		}
		if l.Form != Apart {
			rate = 1 / (1/rate + 1/each)
		}
		sum += rate
	}
	if sum == 0 || math.IsInf(serves, 1) {
		return sum
	}
	// Divide by the smaller value, so that powers do not overflow.
	low, high := min(sum, serves), max(sum, serves)
	return low * math.Pow(1+math.Pow(low/high, l.Sharpness), -1/l.Sharpness)
}

// Alike returns n workers on one device type, in the region of their parameter servers.
func Alike(device string, n int) []Worker {
	workers := make([]Worker, n)
	for i := range workers {
		workers[i] = Worker{Device: device, Factor: 1}
	}
	return workers
}
