package goodput

import (
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
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
	p, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Limits{First: 8, Most: 32, Least: 4, Greatest: 8}); p.Limits != want || p.Epochs != 2 {
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
	if n := p.Noise(20, 1); n != (Noise{Square: 1.5, Variance: 6}) {
		t.Errorf("noise %+v, want halfway between", n)
	}
	if n := p.Iterations(20, 0); n != 70 {
		t.Errorf("%v iterations, want 70", n)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ file, old, new, want string }{
		{PlacementsFile, "12,4,0.20", "1x,4,0.20", `placements.csv:6: placement "1x" is not GPUs by node, one digit each`},
		{PlacementsFile, "1,4,0.14", "1,4,-1", `placements.csv:2: step_time must be a number from 0, not "-1"`},
		{PlacementsFile, "1,4,0.14,0", "1,4,0.14,0.2", "step_time must be greater than sync_time, but is 0.14 s; sync_time is 0.2 s"},
		{PlacementsFile, "local_bsz", "batch", `placements.csv:1: the table must have a column "local_bsz"`},
		{ScalabilityFile, "4,4,4", "4,3,4", "scalability.csv:2: 3 GPUs on 4 nodes"},
		{"validation-8.csv", "200,200", "99,200", "validation-8.csv:3: the progress does not grow"},
		{"validation-8.csv", "200,200,0.6,1,4", "200,200", "validation-8.csv:3: wrong number of fields"},
		{"validation-8.csv", "200,200", strings.Repeat("2", 2<<20), "longer than 1 MiB"},
	} {
		files := small()
		text := string(files[c.file].Data)
		files[c.file] = &fstest.MapFile{Data: []byte(strings.Replace(text, c.old, c.new, 1))}
		if _, err := ReadMeasured(files, "small", MeasuredSettings{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v; want %s", c.file, c.new, err, c.want)
		}
	}
	files := small()
	delete(files, ScalabilityFile)
	if _, err := ReadMeasured(files, "small", MeasuredSettings{}); err != nil {
		t.Errorf("without %s: %v", ScalabilityFile, err)
	}
	delete(files, PlacementsFile)
	if _, err := ReadMeasured(files, "small", MeasuredSettings{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without %s: %v", PlacementsFile, err)
	}
	if _, err := ReadMeasured(small(), "small", MeasuredSettings{Epochs: 3}); err == nil {
		t.Error("more epochs than were recorded are accepted")
	}
	if _, err := ReadMeasured(small(), "small", MeasuredSettings{Limits: Limits{Most: 4}}); err == nil {
		t.Error("a greatest batch below the first is accepted")
	}
}

// TestARunByHand follows a run with a batch of 16 on 2 GPUs of one node: 8 samples each and
// 0.19 s per step. Each step gains (2 + 1)/(2/2 + 1) = 1.5 steps of the first batch in the
// first epoch.
func TestARunByHand(t *testing.T) {
	p, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewMeasuredRun(p, 16)
	r.Place([]int{0, 2}, 1)
	if got := r.Now(); got != (Config{Nodes: 1, GPUs: 2, Local: 8}) {
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
	if r.Done() || r.epoch != 1 {
		t.Errorf("epoch %d after the first", r.epoch)
	}
	if r.NextEpoch(); !r.Done() || r.Left() != 0 {
		t.Error("not done after two epochs")
	}
}

// TestBatchFollowsTheGoodput checks that a run without a given batch begins with the
// first one and chooses when it knows its speed.
func TestBatchFollowsTheGoodput(t *testing.T) {
	p, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewMeasuredRun(p, 0)
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

// TestLimitsThatContradict are refused, and those at the edge are not.
func TestLimitsThatContradict(t *testing.T) {
	good := Limits{First: 8, Most: 8, Least: 8, Greatest: 8}
	change := func(by func(*Limits)) Limits {
		l := good
		by(&l)
		return l
	}
	law := Params{AlphaC: 0.01, Gamma: 1}
	noise := Noise{Variance: 1}
	for name, c := range map[string]struct {
		limits Limits
		fits   bool
	}{
		"all alike":            {good, true},
		"most below first":     {change(func(l *Limits) { l.First = 9 }), false},
		"greatest below":       {change(func(l *Limits) { l.Greatest = 7 }), false},
		"most below the least": {Limits{First: 4, Most: 5, Least: 6, Greatest: 8}, false},
	} {
		if _, err := ReadMeasured(small(), "small", MeasuredSettings{Limits: c.limits}); (err == nil) != c.fits {
			t.Errorf("measured, %s: %v", name, err)
		}
		if _, err := ByLaw("law", law, noise, 1, MeasuredSettings{Epochs: 1, Limits: c.limits}); (err == nil) != c.fits {
			t.Errorf("by a law, %s: %v", name, err)
		}
	}
	one := Limits{First: 1, Most: 1, Least: 1, Greatest: 1}
	for name, c := range map[string]struct {
		law     Params
		noise   Noise
		samples int
		epochs  int
		fits    bool
	}{
		"the least":        {law, noise, 1, 1, true},
		"the most epochs":  {law, noise, 1, mostEpochs, true},
		"too many epochs":  {law, noise, 1, mostEpochs + 1, false},
		"no epoch":         {law, noise, 1, 0, false},
		"no samples":       {law, noise, 0, 1, false},
		"no gradient":      {Params{Gamma: 1}, noise, 1, 1, false},
		"too little gamma": {Params{AlphaC: 1, Gamma: 0.9}, noise, 1, 1, false},
		"no noise":         {law, Noise{}, 1, 1, false},
		"all in BetaC":     {Params{BetaC: 1, Gamma: 1}, Noise{Square: 1}, 1, 1, true},
	} {
		if _, err := ByLaw("law", c.law, c.noise, c.samples, MeasuredSettings{Epochs: c.epochs, Limits: one}); (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range 4 {
		zero := one
		*[]*int{&zero.First, &zero.Most, &zero.Least, &zero.Greatest}[i] = 0
		if _, err := ByLaw("law", law, noise, 1, MeasuredSettings{Epochs: 1, Limits: zero}); err == nil {
			t.Errorf("a law with %+v", zero)
		}
	}
}

// TestRowsAreWithinBounds: numbers of nodes, GPUs and samples are from 1, times from 0, and a step takes longer than the
// average within it. Two measurements of one thing are averaged.
func TestRowsAreWithinBounds(t *testing.T) {
	with := func(file, row string) error {
		files := small()
		files[file] = &fstest.MapFile{Data: append(slices.Clone(files[file].Data), (row + "\n")...)}
		_, err := ReadMeasured(files, "small", MeasuredSettings{})
		return err
	}
	for row, fits := range map[string]bool{
		"1,1,1,0.2,0.1": true, "0,1,1,0.2,0.1": false, "1,0,1,0.2,0.1": false, "1,1,0,0.2,0.1": false, "1,1,1,0,0": false,
		"1,1,1,0.2,0.2": false, "1,1,1,0.2,-1": false, "1,1,1,Inf,0.1": false, "1,1,1,NaN,0.1": false, "1.5,1,1,0.2,0.1": false,
		"1,1073741825,1,0.2,0.1": false, "1,1073741824,1,0.2,0.1": true, "2,1,1,0.2,0.1": false,
	} {
		if err := with(ScalabilityFile, row); (err == nil) != fits {
			t.Errorf("%s: %v", row, err)
		}
	}
	for row, fits := range map[string]bool{"9,1,0.2,0.1": true, "0,1,0.2,0.1": false, ",1,0.2,0.1": false, "/,1,0.2,0.1": false, ":,1,0.2,0": false} {
		if err := with(PlacementsFile, row); (err == nil) != fits {
			t.Errorf("%s: %v", row, err)
		}
	}
	if err := with("validation-8.csv", "200,300,0.6,1,4"); err == nil {
		t.Error("progress that stands still")
	}
	files := small()
	files[ScalabilityFile] = &fstest.MapFile{Data: append(files[ScalabilityFile].Data, "4,4,4,0.40,0.20\n"...)}
	p, err := ReadMeasured(files, "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if step, sync := p.Step([]int{1, 1, 1, 1}, 4); math.Abs(step-0.35) > 1e-9 || math.Abs(sync-0.18) > 1e-9 {
		t.Errorf("a step of %v s, %v s of it for the average; want the mean of both measurements", step, sync)
	}
	for _, name := range []string{"validation-0.csv", "validation-x.csv"} {
		files := small()
		files[name] = files["validation-8.csv"]
		if _, err := ReadMeasured(files, "small", MeasuredSettings{}); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestFasterGPUs shorten the gradient, and not the average. A placement is the same from wherever its ring begins.
func TestFasterGPUs(t *testing.T) {
	p, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if step, sync := p.StepOn([]int{2}, 8, 3); math.Abs(step-0.07) > 1e-9 || math.Abs(sync-0.01) > 1e-9 {
		t.Errorf("three times as fast: %v, %v", step, sync)
	}
	for form, placements := range map[string][][]int{
		"1 2 3 ": {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}, "1 3 2 ": {{3, 2, 1}, {2, 1, 3}}, "1 1 2 1 3 ": {{1, 3, 1, 1, 2}, {2, 1, 3, 1, 1}},
	} {
		for _, at := range placements {
			if got := canonical(at); got != form {
				t.Errorf("%v is written %q, want %q", at, got, form)
			}
		}
	}
	// Beyond the measured range the times are extrapolated linearly, and a step always takes some time.
	rows := []timing{{4, 0.2, 0.1}, {8, 0.4, 0.05}}
	for local, want := range map[int][2]float64{2: {0.1, 0.1}, 4: {0.2, 0.1}, 6: {0.3, 0.075}, 12: {0.6, 0}, 16: {0.8, 0}, 0: {1e-9, 1e-9}} {
		if step, sync := between(rows, local); math.Abs(step-want[0]) > 1e-9 || math.Abs(sync-want[1]) > 1e-9 {
			t.Errorf("%d samples: %v, %v; want %v", local, step, sync, want)
		}
	}
	if step, _ := between(rows[:1], 9); step != 0.2 {
		t.Errorf("of one measurement: %v", step)
	}
}

// TestWhatARunAsks of its program: the remaining work, steps, and the time of a step with the batch that its user
// asked for.
func TestWhatARunAsks(t *testing.T) {
	p, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewMeasuredRun(p, 16)
	// The first batch is 8, and takes 0.18 s on one GPU; the training is 199 such steps.
	remains := func(passed, want float64) {
		t.Helper()
		if got := r.Remaining(passed); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v s remain, want %v", got, want)
		}
	}
	remains(0, 199*0.18)
	r.Place([]int{2}, 1)
	remains(0, 199*0.18)
	remains(3, (199-3*r.Rate())*0.18)
	if got, want := r.Steps(), p.Iterations(16, 1)-p.Iterations(16, 0); got != want {
		t.Errorf("%v steps are left, want %v", got, want)
	}
	for _, c := range []struct {
		batch int
		on    []int
		want  float64
	}{{16, []int{2}, 0.19}, {8, []int{1}, 0.14 * 2}, {0, []int{2}, 0.15}, {0, []int{1}, 0.14 * 2}, {16, []int{1}, 0.18 * 2},
		{16, []int{2, 2}, 0.21}, {7, []int{1}, 0.14 * 2}, {32, []int{2}, 0.19 + 0.18}} {
		if got := NewMeasuredRun(p, c.batch).StepTime(c.on); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("a batch of %d on %v takes %v s, want %v", c.batch, c.on, got, c.want)
		}
	}
	r.Advance(1e9)
	if r.Left() != 0 || r.Done() {
		t.Errorf("at the end of its epoch %v s are left", r.Left())
	}
	r.NextEpoch()
	if r.Steps() != 1 {
		t.Errorf("%v steps are left of the last epoch", r.Steps())
	}
	half := r.Rate()
	r.Place([]int{2}, 2)
	if step, sync := p.StepOn([]int{2}, 8, 2); math.Abs(r.Rate()*step/(half*0.19)-1) > 1e-9 || sync != 0.01 {
		t.Errorf("GPUs that are twice as fast make a rate of %v, not %v", r.Rate(), half)
	}
	left := r.Remaining(0)
	r.Place(nil, 1)
	remains(0, left)
	r.Place([]int{2}, 1)
	remains(0, left)
	if r.NextEpoch(); r.Remaining(0) != 0 {
		t.Error("a run that is done has a time left")
	}
	// Its model is based on its measurements.
	if got := r.profile[0]; got != (Measurement{Nodes: 1, GPUs: 2, Local: 8, Gradient: 0.18, Step: 0.19}) {
		t.Errorf("measured %+v", got)
	}
}

// TestARunKnowsFasterGPUs and the noise of its epoch, and an archive the programs that were measured.
func TestARunKnowsFasterGPUs(t *testing.T) {
	p, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	r := NewMeasuredRun(p, 16)
	r.Place([]int{2}, 1)
	faster := *r.Model()
	faster.Params = faster.Params.On(3)
	if _, want := faster.Best(1, 2); r.Goodput(1, 2, 3) != want || want <= r.Goodput(1, 2, 1) {
		t.Errorf("three times as fast the goodput is %v, want %v", r.Goodput(1, 2, 3), want)
	}
	if r.NextEpoch(); r.Model().Noise != p.Noise(16, 1) {
		t.Errorf("in the second epoch the noise is %+v, want %+v", r.Model().Noise, p.Noise(16, 1))
	}
	a := Archive{"x/one/" + PlacementsFile: nil, "x/one/notes.csv": nil, "x/two/notes.csv": nil}
	if got := a.Programs(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("the programs are %q", got)
	}
	if a.Program("two") != nil || len(a.Program("one")) != 2 {
		t.Errorf("the files of one are %v, those of two %v", a.Program("one"), a.Program("two"))
	}
}
