package batch

import (
	"fmt"
	"testing"
)

func TestPlace(t *testing.T) {
	tests := []struct {
		name        string
		units       []int32
		weights     []int
		ask         int32
		least, most int
		want        string
	}{
		{"the smallest run that has room", []int32{16, 16, 0, 4, 0, 8}, nil, 4, 1, 0, "[{3 4}]"},
		{"a run is filled from its start", []int32{4, 16, 16, 12, 0, 0}, nil, 48, 1, 0, "[{0 4} {1 16} {2 16} {3 12}]"},
		{"the fullest node of a run", []int32{16, 8, 16, 0, 0, 0}, nil, 8, 1, 0, "[{1 8}]"},
		{"the largest runs first where none has room", []int32{8, 0, 16, 16, 0, 16}, nil, 40, 1, 0, "[{0 8} {2 16} {3 16}]"},
		{"no more nodes than allowed", []int32{2, 2, 2, 0, 16, 16}, nil, 32, 2, 2, "[{4 16} {5 16}]"},
		{"at least so many nodes", []int32{16, 16, 16, 16, 16, 16}, nil, 4, 2, 2, "[{0 3} {1 1}]"},
		{"light nodes before others", []int32{16, 16, 16, 16, 16, 16}, []int{5, 5, 1, 1, 1, 1}, 20, 1, 0, "[{2 16} {3 4}]"},
		{"the last node has to hold the rest", []int32{8, 8, 8, 16, 0, 0}, nil, 24, 2, 2, "[{0 8} {3 16}]"},
		{"no room", []int32{1, 1, 1, 1, 1, 1}, nil, 7, 1, 0, "[]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := packer{units: test.units, weights: test.weights}
			got, _ := p.place(test.ask, test.least, test.most, nil)
			if s := fmt.Sprint(got); s != test.want {
				t.Errorf("%d units are on %s, want %s", test.ask, s, test.want)
			}
		})
	}
}

func TestHosts(t *testing.T) {
	for text, want := range map[string]string{
		"n1": "[n1]", "n[1-3]": "[n1 n2 n3]", "n[08-10],login": "[n08 n09 n10 login]", "r[1-2]c[1,3]": "[r1c1 r1c3 r2c1 r2c3]",
	} {
		if got, err := Hosts(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s names %v (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"n[1-3", "n[3-1]", "n[a-b]"} {
		if got, err := Hosts(text); err == nil {
			t.Errorf("%s names %v, want an error", text, got)
		}
	}
}

func TestLeastLoaded(t *testing.T) {
	p := packer{units: []int32{4, 16, 0, 8, 16, 2}, weights: []int{1, 2, 1, 1, 1, 1}, spread: true}
	for ask, want := range map[int32]string{4: "[{4 4}]", 20: "[{3 4} {4 16}]", 40: "[{0 4} {1 10} {3 8} {4 16} {5 2}]", 50: "[]"} {
		got, ok := p.place(ask, 1, 0, nil)
		if s := fmt.Sprint(got); ok && s != want || ok == (want == "[]") {
			t.Errorf("%d units are on %s (%v), want %s", ask, s, ok, want)
		}
	}
	if got, _ := p.place(4, 2, 2, nil); fmt.Sprint(got) != "[{3 1} {4 3}]" {
		t.Errorf("4 units on two nodes are on %v", got)
	}
}
