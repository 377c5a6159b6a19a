package goodput

import (
	"math"
	"testing"
)

// sample is a job whose results are known to seven digits.
var sample = Model{
	Params: Params{
		AlphaC: 0.012, BetaC: 0.0035, AlphaN: 0.06, BetaN: 0.004, AlphaR: 0.02, BetaR: 0.001, Gamma: 2.5,
	},
	Noise:  Noise{Square: 0.002, Variance: 0.05},
	Limits: Limits{First: 128, Most: 4096, Least: 16, Greatest: 256},
}

func TestThroughputAndEfficiency(t *testing.T) {
	for _, c := range []struct {
		Config
		throughput, efficiency float64
	}{
		{Config{Nodes: 1, GPUs: 1, Local: 128}, 278.2609, 1},
		{Config{Nodes: 1, GPUs: 4, Local: 64}, 1083.5967, 0.962963},
		{Config{Nodes: 2, GPUs: 8, Local: 64, Accumulation: 1}, 2137.8791, 0.787879},
		{Config{Nodes: 4, GPUs: 16, Local: 128}, 4396.5436, 0.634146},
	} {
		throughput := sample.Params.Throughput(c.Config)
		efficiency := sample.Noise.Efficiency(float64(c.Batch()) / 128)
		if math.Abs(throughput-c.throughput) > 5e-5 || math.Abs(efficiency-c.efficiency) > 5e-7 {
			t.Errorf("%+v: throughput %.4f, efficiency %.6f; want %.4f, %.6f",
				c.Config, throughput, efficiency, c.throughput, c.efficiency)
		}
		if got := sample.Goodput(c.Config); math.Abs(got-throughput*efficiency) > 1e-9 {
			t.Errorf("%+v: goodput %v, want %v", c.Config, got, throughput*efficiency)
		}
	}
}

// TestBestIsTheGreatest compares Best with every batch size that it tries.
func TestBestIsTheGreatest(t *testing.T) {
	for gpus := 1; gpus <= 64; gpus++ {
		nodes := (gpus + 3) / 4
		best, goodput := sample.Best(nodes, gpus)
		if got := sample.Goodput(best); math.Abs(got-goodput) > 1e-9*goodput {
			t.Errorf("%d GPUs: Best says %v, its batch has %v", gpus, goodput, got)
		}
		for local := 16; local <= 256 && local*gpus <= 4096; local++ {
			c := Config{Nodes: nodes, GPUs: gpus, Local: local}
			if c.Batch() < 128 || gpus == 1 && c.Batch() > 128 {
				continue
			}
			if got := sample.Goodput(c); got > 1.01*goodput {
				t.Errorf("%d GPUs: %d samples each have %v, the best is %v", gpus, local, got, goodput)
			}
		}
		if best.Local < 16 || best.Local > 256 || gpus == 1 && best.Batch() > 128 && best.Accumulation == 0 {
			t.Errorf("%d GPUs: %+v is beyond the limits", gpus, best)
		}
	}
}

func TestBestOfNothing(t *testing.T) {
	m := sample
	m.Limits = Limits{First: 128, Most: 128, Least: 64, Greatest: 256}
	if c, goodput := m.Best(1, 4); goodput != 0 || c != (Config{}) { // 4 × 64 is more than 128
		t.Errorf("no batch is within the limits: %+v, %v", c, goodput)
	}
}
