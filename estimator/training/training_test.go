package training

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tfexp/tfexp/estimator/goodput"
)

// small is a program with few measurements: a step takes 0.1 s and 0.01 s a sample, and
// 0.05 s more for each node beyond the first.
func small() fstest.MapFS {
	files := fstest.MapFS{}
	write := func(name string, lines ...string) {
		files[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	write(PlacementsFile, "placement,local_bsz,step_time,sync_time",
		"1,4,0.14,0", "1,8,0.18,0", "2,4,0.15,0.01", "2,8,0.19,0.01", "12,4,0.20,0.06", "12,8,0.24,0.06", "22,4,0.21,0.07",
		"22,8,0.25,0.07")
	write(ScalabilityFile, "num_nodes,num_replicas,local_bsz,step_time,sync_time",
		"4,4,4,0.30,0.16", "4,4,8,0.34,0.16", "4,8,4,0.32,0.18", "4,8,8,0.36,0.18")
	write("validation-8.csv", "progress,iteration,metric,grad_sqr,grad_var", "100,100,0.5,1,2", "200,200,0.6,1,4")
	write("validation-32.csv", "progress,iteration,metric,grad_sqr,grad_var", "101,40,0.5,2,4", "199,80,0.6,2,8")
	return files
}

func TestReadAProgram(t *testing.T) {
	p, err := Read(small(), "small", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (goodput.Limits{First: 8, Most: 32, Least: 4, Greatest: 8}); p.Limits != want || p.Epochs != 2 {
		t.Errorf("limits %+v, %d epochs; want %+v, 2", p.Limits, p.Epochs, want)
	}
	for _, c := range []struct {
		placement []int
		local     int
		step      float64
	}{
		{[]int{1}, 8, 0.18}, {[]int{1}, 5, 0.15}, {[]int{2, 1}, 4, 0.20}, {[]int{1, 2}, 6, 0.22},
		{[]int{1, 1, 1, 1}, 4, 0.30}, {[]int{2, 2, 2, 2}, 6, 0.34}, {[]int{2, 1, 1, 2}, 4, 0.31}, {[]int{2, 2, 2}, 4, 0.265},
		{[]int{4, 4, 4, 4}, 4, 0.32}, // the nearest
	} {
		if step, _ := p.Step(c.placement, c.local); math.Abs(step-c.step) > 1e-9 {
			t.Errorf("%v with %d samples each: %v s, want %v", c.placement, c.local, step, c.step)
		}
	}
	if p.Work(1) != 100 || p.Work(2) != 199 {
		t.Errorf("work %v, %v; want the least of all trainings", p.Work(1), p.Work(2))
	}
	if n := p.Noise(20, 1); n != (goodput.Noise{Square: 1.5, Variance: 6}) {
		t.Errorf("noise %+v, want halfway between", n)
	}
	if n := p.Iterations(20, 0); n != 70 {
		t.Errorf("%v iterations, want 70", n)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{PlacementsFile, "12,4,0.20", "1x,4,0.20", `placements.csv:6: placement "1x" is not GPUs by node, one digit each`},
		{PlacementsFile, "1,4,0.14", "1,4,-1", `placements.csv:2: step_time "-1" is not a number from 0`},
		{PlacementsFile, "1,4,0.14,0", "1,4,0.14,0.2", "placements.csv:2: a step of 0.14 s, of which 0.2 s"},
		{PlacementsFile, "local_bsz", "batch", `placements.csv:1: there is no column "local_bsz"`},
		{ScalabilityFile, "4,4,4", "4,3,4", "scalability.csv:2: 3 GPUs on 4 nodes"},
		{"validation-8.csv", "200,200", "99,200", "validation-8.csv:3: the progress does not grow"},
		{"validation-8.csv", "200,200,0.6,1,4", "200,200", "validation-8.csv:3: wrong number of fields"},
	} {
		files := small()
		text := string(files[c.file].Data)
		files[c.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, c.old, c.new, 1))}
		if _, err := Read(files, "small", Settings{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v; want %s", c.file, c.new, err, c.want)
		}
	}
	files := small()
	delete(files, ScalabilityFile)
	if _, err := Read(files, "small", Settings{}); err != nil {
		t.Errorf("without %s: %v", ScalabilityFile, err)
	}
	delete(files, PlacementsFile)
	if _, err := Read(files, "small", Settings{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without %s: %v", PlacementsFile, err)
	}
	if _, err := Read(small(), "small", Settings{Epochs: 3}); err == nil {
		t.Error("more epochs than were recorded are accepted")
	}
	if _, err := Read(small(), "small", Settings{Limits: goodput.Limits{Most: 4}}); err == nil {
		t.Error("a greatest batch below the first is accepted")
	}
}

// TestARunByHand follows a run with a batch of 16 on 2 GPUs of one node: 8 samples each, 0.19 s
// a step, each of which gains (2 + 1)/(2/2 + 1) = 1.5 steps of the first batch in the first
// epoch.
func TestARunByHand(t *testing.T) {
	p, err := Read(small(), "small", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewRun(p, 16)
	r.Place([]int{0, 2}, 1)
	if got := r.Now(); got != (goodput.Config{Nodes: 1, GPUs: 2, Local: 8}) {
		t.Fatalf("it runs with %+v", got)
	}
	noise := p.Noise(16, 0)
	rate := (noise.Variance + noise.Square) / (noise.Variance/2 + noise.Square) / 0.19
	if math.Abs(r.Rate()-rate) > 1e-9 || math.Abs(r.Left()-100/rate) > 1e-9 {
		t.Errorf("rate %v, %v s left; want %v, %v", r.Rate(), r.Left(), rate, 100/rate)
	}
	r.Advance(1)
	if math.Abs(r.Left()-(100/rate-1)) > 1e-9 {
		t.Errorf("%v s left after 1 s", r.Left())
	}
	r.NextEpoch()
	if r.Done() || r.Epoch() != 1 {
		t.Errorf("epoch %d after the first", r.Epoch())
	}
	if r.NextEpoch(); !r.Done() || r.Left() != 0 {
		t.Error("not done after two epochs")
	}
}

// TestBatchFollowsTheGoodput checks that a run without a batch of its own begins with the
// first one and chooses when it knows its speed.
func TestBatchFollowsTheGoodput(t *testing.T) {
	p, err := Read(small(), "small", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewRun(p, 0)
	if r.Model() != nil || r.Goodput(1, 2, 1) != 0 {
		t.Error("a run that has not begun knows its goodput")
	}
	r.Place([]int{1, 2}, 1)
	if got := r.Now(); got.Batch() != 12 || got.Nodes != 2 {
		t.Errorf("it begins with %+v, want the least batch of 3 GPUs", got)
	}
	best, value := r.Model().Best(2, 4)
	if got := r.Goodput(2, 4, 1); got != value {
		t.Errorf("goodput %v, want %v", got, value)
	}
	if r.Place([]int{2, 2}, 1); r.Now() != best {
		t.Errorf("it runs with %+v, the best is %+v", r.Now(), best)
	}
	if r.MostGPUs() != 4 {
		t.Errorf("it has run on %d GPUs at most", r.MostGPUs())
	}
}
