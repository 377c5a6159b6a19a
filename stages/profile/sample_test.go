//go:build unix

package profile

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
)

// printing takes a sample of a program that prints some lines.
func printing(t *testing.T, pick contract.Pick, length int, lines string) estimator.Sample {
	t.Helper()
	s, err := take(context.Background(), here(Run{
		Job: launch.Job{Name: "p", Argv: []string{"sh", "-c", "printf '" + lines + "'"}, Threads: 1,
			LogPath: t.TempDir() + "/log"},
		Length: length, Pick: pick,
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The program reports start-up, epochs and save separately. If it prints several lines, the selected one counts.
func TestTakeReadsTheTimeWriter(t *testing.T) {
	const two = `<TIME_WRITTER_OUTPUT>[0.5, 1, 2, 0.25]</TIME_WRITTER_OUTPUT>\n<TIME_WRITTER_OUTPUT>[0.1, 3, 0.2]</TIME_WRITTER_OUTPUT>\n`
	for _, c := range []struct {
		pick          contract.Pick
		length        int
		startup, save float64
		units         []float64
	}{
		{contract.First, 2, 0.5, 0.25, []float64{1, 2}},
		{contract.Longest, 2, 0.5, 0.25, []float64{1, 2}},
		{contract.Last, 1, 0.1, 0.2, []float64{3}},
	} {
		s := printing(t, c.pick, c.length, two)
		if s.Startup != c.startup || s.Save != c.save || !cmp.Equal(s.Units, c.units) || len(s.Warnings) > 0 {
			t.Errorf("line %v: %+v", c.pick, s)
		}
	}
}

// An unusable line causes a warning; the wall time is known anyway.
func TestTakeGoesOnAfterABrokenLine(t *testing.T) {
	for name, lines := range map[string]string{
		"broken":        `<TIME_WRITTER_OUTPUT>[0.5, x]</TIME_WRITTER_OUTPUT>\n`,
		"other lengths": `<TIME_WRITTER_OUTPUT>[0.5, 1, 0.5]</TIME_WRITTER_OUTPUT>\n`,
	} {
		s := printing(t, contract.Last, 2, lines)
		if len(s.Warnings) != 1 || s.Units != nil || s.Wall <= 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := printing(t, contract.Last, 2, `loss 0.5\n`); len(s.Warnings) > 0 || s.Units != nil || s.Wall <= 0 {
		t.Errorf("silent: %+v", s)
	}
}

// Progress lines give the epochs of a program without a time-writer line.
func TestTakeReadsProgress(t *testing.T) {
	s := printing(t, contract.Last, 2, `{"tfexp":{"epoch":1,"seconds":1.5}}\n{"tfexp":{"epoch":2,"seconds":1.25}}\n`)
	if !cmp.Equal(s.Units, []float64{1.5, 1.25}) || s.Startup != 0 {
		t.Errorf("%+v", s)
	}
}

// A sample during which other programs use the CPU is kept. A sample during which tfexp was stopped is taken again,
// once.
func TestUndisturbed(t *testing.T) {
	for _, c := range []struct {
		lost        []float64 // lost seconds of each try
		want, tries int       // the sample that is returned, and the number of tries
	}{{[]float64{0}, 1, 1}, {[]float64{5, 0}, 2, 2}, {[]float64{5, 9}, 1, 2}} {
		i := 0
		s, err := undisturbed(func() (estimator.Sample, error) {
			i++
			return estimator.Sample{Wall: float64(i), Busy: 2, Lost: c.lost[i-1]}, nil
		})
		if err != nil || s.Wall != float64(c.want) || s.Tries != c.tries || i != c.tries {
			t.Errorf("%v: %+v after %d tries, %v", c.lost, s, i, err)
		}
	}
	gone := errors.New("gone")
	if _, err := undisturbed(func() (estimator.Sample, error) { return estimator.Sample{}, gone }); !errors.Is(err, gone) {
		t.Errorf("error %v, want %v", err, gone)
	}
}

// Steps are read in the same way from a program that counts steps.
func TestTakeReadsSteps(t *testing.T) {
	const lines = `{"tfexp":{"step":1,"seconds":0.5}}\n{"tfexp":{"step":2,"seconds":0.25}}\n`
	s, err := take(context.Background(), here(Run{
		Job: launch.Job{Name: "p", Argv: []string{"sh", "-c", "printf '" + lines + "'"}, Threads: 1,
			LogPath: t.TempDir() + "/log"},
		Length: 2, Steps: true,
	}), nil)
	if err != nil || !cmp.Equal(s.Units, []float64{0.5, 0.25}) || len(s.Warnings) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
