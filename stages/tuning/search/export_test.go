package search

import "github.com/tfexp/tfexp/stages/tuning/tuner"

// Searches gives tests the unexported type.
type Searches = searches

var New = newSearches

// Seeds returns the seeds of the replicates' searches.
func (u *searches) Seeds() (seeds []uint64) {
	for _, s := range u.all {
		seeds = append(seeds, s.problem.Seed)
	}
	return seeds
}

// Natural is natural for the first search.
func (u *searches) Natural(next tuner.Suggestion, deviations float64) *float64 {
	return u.all[0].natural(next, deviations)
}
