package goodput

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestScatterIsDelaunay checks that no other point is within the sphere around the
// simplex that a value comes from, on random points, and that planes are met exactly.
func TestScatterIsDelaunay(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	plane := func(p point) float64 { return 10 + 0.5*p[0] - 0.25*p[1] + 0.125*p[2] }
	var s scatter
	for range 200 {
		p := point{random.Float64() * 10, random.Float64() * 20, random.Float64() * 40}
		s.points = append(s.points, p)
		s.rows = append(s.rows, timing{step: plane(p), sync: 1})
	}
	for range 50 {
		x := point{3 + random.Float64()*4, 6 + random.Float64()*8, 12 + random.Float64()*16}
		step, sync, ok := s.at(x)
		if !ok || math.Abs(step-plane(x)) > 1e-6 || math.Abs(sync-1) > 1e-9 {
			t.Fatalf("%v: %v, %v, %v; the plane has %v", x, step, sync, ok, plane(x))
		}
	}
	if _, _, ok := s.at(point{-5, 0, 0}); ok {
		t.Error("a point outside of the hull has a value")
	}
	// Of four corners of a kite, the shorter diagonal is an edge.
	kite := scatter{
		points: []point{{0, -1, 0}, {0, 1, 0}, {-3, 0, 0}, {3, 0, 0}, {0, 0, 50}, {0, 0, -50}},
		rows:   []timing{{step: 1}, {step: 1}, {step: 5}, {step: 5}, {step: 1}, {step: 1}},
	}
	if step, _, ok := kite.at(point{0, 0, 0}); !ok || math.Abs(step-1) > 1e-9 {
		t.Errorf("the middle of a kite has %v, want that of the near corners", step)
	}
}

func TestScatterMeetsItsPoints(t *testing.T) {
	var s scatter
	for n := 4; n <= 8; n += 2 {
		for g := n; g <= 4*n; g += 2 {
			for _, local := range []int{32, 45, 64} {
				s.points = append(s.points, point{float64(n), float64(g), float64(local)})
				s.rows = append(s.rows, timing{step: float64(n*g + local*local), sync: 2})
			}
		}
	}
	for i, p := range s.points {
		if step, _, ok := s.at(p); !ok || math.Abs(step-s.rows[i].step) > 1e-6 {
			t.Errorf("%v: %v, %v; measured %v", p, step, ok, s.rows[i].step)
		}
	}
}
