package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SpeedUp says how much faster a job runs on n threads than on one. With Points it is a table. Otherwise it is the
// universal scalability law (N. Gunther, Guerrilla Capacity Planning, 2007):
//
//	n / (1 + Sigma (n-1) + Kappa n (n-1))
//
// With Kappa = 0 this is Amdahl's law with the serial fraction Sigma. For the zero value, the speed is proportional
// to the threads.
type SpeedUp struct {
	Sigma, Kappa float64
	// Points are the table, ascending by threads.
	Points []SpeedPoint
}

// SpeedPoint is the speed on a number of threads, in any unit.
type SpeedPoint struct {
	Threads int
	Speed   float64
}

// Amdahl returns the speed-up of work with a parallel fraction, 0 to 1.
func Amdahl(parallel float64) SpeedUp { return SpeedUp{Sigma: 1 - parallel} }

// At returns the speed on a number of threads. Between two points of a table it is interpolated as a power of the
// threads. Below the first point it is proportional to the threads; above the last point it is constant.
func (s SpeedUp) At(threads int) float64 {
	n := float64(threads)
	if len(s.Points) == 0 {
		return n / (1 + s.Sigma*(n-1) + s.Kappa*n*(n-1))
	}
	i, found := slices.BinarySearchFunc(s.Points, threads, func(p SpeedPoint, n int) int { return p.Threads - n })
	switch {
	case found:
		return s.Points[i].Speed
	case i == 0:
		return s.Points[0].Speed * n / float64(s.Points[0].Threads)
	case i == len(s.Points):
		return s.Points[i-1].Speed
	}
	a, b := s.Points[i-1], s.Points[i]
	power := math.Log(b.Speed/a.Speed) / math.Log(float64(b.Threads)/float64(a.Threads))
	return a.Speed * math.Pow(n/float64(a.Threads), power)
}

// Check returns an error if a speed is not greater than 0, or the points are not ascending.
func (s SpeedUp) Check() error {
	if !(s.Sigma >= 0 && s.Sigma <= 1) || !(s.Kappa >= 0 && s.Kappa <= 1) {
		return fmt.Errorf("sigma %v and kappa %v must be from 0 to 1", s.Sigma, s.Kappa)
	}
	before := 0
	for _, p := range s.Points {
		switch {
		case p.Threads <= before:
			return errors.New("the points of a speed-up are not in the order of their threads")
		case !(p.Speed > 0) || math.IsInf(p.Speed, 1):
			return fmt.Errorf("a speed of %v on %d threads", p.Speed, p.Threads)
		}
		before = p.Threads
	}
	return nil
}

// String returns the curve as experiments write it: "usl(0.05, 0.001)", "{1 = 1, 2 = 1.8}".
func (s SpeedUp) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 15, 64) } // hides rounding errors
	switch {
	case len(s.Points) > 0:
		parts := make([]string, len(s.Points))
		for i, p := range s.Points {
			parts[i] = strconv.Itoa(p.Threads) + " = " + number(p.Speed)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case s.Kappa == 0:
		return "amdahl(" + number(1-s.Sigma) + ")"
	}
	return "usl(" + number(s.Sigma) + ", " + number(s.Kappa) + ")"
}
