package allox

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// assigned returns the least sum of an assignment of rows to columns, by the Hungarian method (H. W. Kuhn, 1955; with
// potentials, in O(n²m) steps).
func assigned(cost [][]int64) int64 {
	rows, columns := len(cost), len(cost[0])
	u, v := make([]int64, rows+1), make([]int64, columns+1)
	of, way := make([]int, columns+1), make([]int, columns+1) // of 0: the row that is placed
	for i := 1; i <= rows; i++ {
		of[0] = i
		at := 0
		least := slices.Repeat([]int64{math.MaxInt64 / 4}, columns+1)
		used := make([]bool, columns+1)
		for {
			used[at] = true
			next, delta := 0, int64(math.MaxInt64/4)
			for j := 1; j <= columns; j++ {
				if used[j] {
					continue
				}
				if c := cost[of[at]-1][j-1] - u[of[at]] - v[j]; c < least[j] {
					least[j], way[j] = c, at
				}
				if least[j] < delta {
					next, delta = j, least[j]
				}
			}
			for j := range used {
				if used[j] {
					u[of[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			if at = next; of[at] == 0 {
				break
			}
		}
		for at != 0 {
			of[at], at = of[way[at]], way[at]
		}
	}
	sum := int64(0)
	for j := 1; j <= columns; j++ {
		if of[j] > 0 {
			sum += cost[of[j]-1][j-1]
		}
	}
	return sum
}

// For many jobs on many machines, the matching has the same sum of finish times as the assignment of jobs to all
// positions.
func TestMatchingEqualsTheHungarianMethod(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 150 {
		var p Assignment
		kinds := 1 + rng.IntN(4)
		for range kinds {
			free := make([]int64, 1+rng.IntN(3))
			for k := range free {
				free[k] = int64(rng.IntN(60))
			}
			slices.Sort(free)
			p.Free = append(p.Free, free)
		}
		alike := round%3 == 0 // few different times, so that there are many ties
		for range 1 + rng.IntN(20) {
			times := make([]int64, kinds)
			for c := range times {
				times[c] = int64(1 + rng.IntN(100))
				if alike {
					times[c] = int64(10 * (1 + rng.IntN(3)))
				}
				if c > 0 && rng.IntN(5) == 0 {
					times[c] = -1
				}
			}
			p.Times = append(p.Times, times)
		}
		cost := make([][]int64, len(p.Times))
		for i, times := range p.Times {
			for c, free := range p.Free {
				for _, at := range free {
					for level := range p.Times {
						one := int64(math.MaxInt64 / 1_000_000)
						if times[c] >= 0 {
							one = at + times[c]*int64(level+1)
						}
						cost[i] = append(cost[i], one)
					}
				}
			}
		}
		at := SolveAssignment(p)
		if got, want := sumOf(p, at), assigned(cost); got != want {
			t.Fatalf("%+v: the finishes add up to %d, the least is %d", p, got, want)
		}
		if !slices.Equal(at, SolveAssignment(p)) {
			t.Fatal("the same problem has another matching")
		}
	}
}
