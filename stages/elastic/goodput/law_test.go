package goodput

import (
	"archive/tar"
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestAProgramByLaw follows a training of 2 epochs of 1,280 samples on 8 GPUs of two nodes with 64
// samples each: 10 steps of 128 an epoch, each step of 512 worth Gain(4) of them.
func TestAProgramByLaw(t *testing.T) {
	params := Params{
		AlphaC: 0.012, BetaC: 0.0035, AlphaN: 0.06, BetaN: 0.004, AlphaR: 0.02, BetaR: 0.001, Gamma: 2.5,
	}
	noise := Noise{Square: 0.002, Variance: 0.05}
	limits := Limits{First: 128, Most: 4096, Least: 1, Greatest: 256}
	p, err := ByLaw("law", params, noise, 1280, MeasuredSettings{Epochs: 2, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	step, sync := p.Step([]int{4, 4}, 64)
	if want := params.Step(2, 8, 64); step != want || math.Abs(step-sync-params.Gradient(64)) > 1e-12 {
		t.Errorf("a step of %v s, of which %v average; want %v, %v", step, sync, want, want-params.Gradient(64))
	}
	want := 2 * 10 * step / noise.Gain(4)
	if got := p.Alone(512, 8, 2); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("alone it takes %v s, want %v", got, want)
	}
	if got := p.Iterations(512, 1) * step; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("all iterations take %v s, want %v", got, want)
	}
	for _, bad := range []MeasuredSettings{
		{Limits: limits}, {Epochs: 1}, {Epochs: mostEpochs + 1, Limits: limits},
		{Epochs: 1, Limits: Limits{First: 128, Most: 64, Least: 1, Greatest: 64}},
	} {
		if _, err := ByLaw("law", params, noise, 1280, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

func TestUnpack(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, file := range small() {
		for _, folder := range []string{"traces/small/", "traces/other/"} {
			if err := w.WriteHeader(&tar.Header{Name: folder + name, Mode: 0o600, Size: int64(len(file.Data))}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(file.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Unpack(&b)
	if err != nil {
		t.Fatal(err)
	}
	if names := a.Programs(); !slices.Equal(names, []string{"other", "small"}) {
		t.Errorf("the programs are %q", names)
	}
	p, err := ReadMeasured(a.Program("small"), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ReadMeasured(small(), "small", MeasuredSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, gpus := range []int{1, 3, 8} {
		if got, want := p.Alone(16, gpus, 1), plain.Alone(16, gpus, 1); got != want {
			t.Errorf("%d GPUs: the packed program takes %v s, the same on disk %v", gpus, got, want)
		}
	}
	if a.Program("third") != nil {
		t.Error("a program that is not there is found")
	}
	if _, err := Unpack(strings.NewReader("no archive")); err == nil {
		t.Error("a text is unpacked")
	}
}
