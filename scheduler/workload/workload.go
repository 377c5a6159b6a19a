// Package workload turns a description of who submits what into the jobs of
// one cell: every random draw comes from the seed by a named path, so that
// cells which share a seed share their arrivals.
package workload

import "time"

// ArrivalKind is how the jobs of one submit block arrive.
type ArrivalKind string

// The kinds of arrivals.
const (
	At          ArrivalKind = "at"          // at the listed instants
	Every       ArrivalKind = "every"       // evenly spaced by Mean
	Exponential ArrivalKind = "exponential" // a Poisson process with mean gap Mean
	Normal      ArrivalKind = "normal"      // gaps normal(Mean, SD), not below 0
)

// Arrivals describes the arrival times of one submit block.
type Arrivals struct {
	Kind ArrivalKind
	// Start is the instant from which gaps are counted; the first job of
	// Every, Exponential and Normal arrives one gap after it, except that
	// Every begins at Start itself.
	Start time.Duration
	// Times are the instants of At: one for each job, or a single one for all.
	Times []time.Duration
	Mean  time.Duration
	SD    time.Duration
}
