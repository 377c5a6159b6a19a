package search

import "github.com/tfexp/tfexp/stages/tuning/tuner"

// Searches and New are for tests.
type Searches = searches

var New = newSearches

// Seeds are the seeds of the replicates' problems.
func (u *searches) Seeds() (seeds []uint64) {
	for _, s := range u.all {
		seeds = append(seeds, s.problem.Seed)
	}
	return seeds
}

// Natural is natural of the first search.
func (u *searches) Natural(next tuner.Suggestion, deviations float64) *float64 {
	return u.all[0].natural(next, deviations)
}
