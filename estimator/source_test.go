package estimator

import "testing"

func TestSources(t *testing.T) {
	for _, s := range RunTimeSources() {
		origins := 0
		for _, is := range []bool{s.Fitted, s.Asked, s.True} {
			if is {
				origins++
			}
		}
		if origins != 1 {
			t.Errorf("%s has %d origins of its estimates", s.Name, origins)
		}
		if s.Losses && !s.Follows {
			t.Errorf("%s reads losses and does not follow jobs", s.Name)
		}
		if FindSource(s.Name) != s {
			t.Errorf("%s is not found by its name", s.Name)
		}
	}
	if FindSource("none") != (RunTimeSource{}) {
		t.Error("an unknown name has a source")
	}
	defer func() {
		if recover() == nil {
			t.Error("a second source of one name was accepted")
		}
	}()
	RegisterSource(RunTimeSource{Name: "fitted", Fitted: true})
}
