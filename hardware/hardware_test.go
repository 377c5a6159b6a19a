package hardware

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHost(t *testing.T) {
	m := Host()
	if m.OS != runtime.GOOS || m.Threads < 1 || m.Threads > m.LogicalCPUs || m.MemoryBytes < 1<<20 || m.Kernel == "" {
		t.Errorf("%+v", m)
	}
	if len(m.Allowed) == 0 || !slices.IsSorted(m.Allowed) {
		t.Errorf("allowed CPUs %v", m.Allowed)
	}
	if !cmp.Equal(m, Host()) {
		t.Error("two answers differ")
	}
}

func TestFingerprint(t *testing.T) {
	m := Machine{
		Name: "alpha", OS: "linux", Arch: "amd64", Kernel: "6.8.0-45-generic", CPUModel: "Fast 9000",
		Threads: 6, LogicalCPUs: 8, Cores: 4, MemoryBytes: 16<<30 - 300<<20, Allowed: []int{0, 1, 2, 3, 5, 7},
	}
	want := []Fact{
		{"os", "linux"}, {"arch", "amd64"}, {"kernel", "6.8"}, {"cpu", "Fast 9000"},
		{"logical_cpus", "8"}, {"threads", "6"}, {"memory", "16 GiB"}, {"gpus", "0"},
	}
	if diff := cmp.Diff(want, m.Fingerprint()); diff != "" {
		t.Error(diff)
	}
	like := m
	like.Name, like.Kernel, like.MemoryBytes = "beta", "6.8.12", 16<<30
	if diff := cmp.Diff(m.Fingerprint(), like.Fingerprint()); diff != "" {
		t.Error("a machine of the same make differs:", diff)
	}
	settings := m.Settings()
	if i := slices.Index(settings, Fact{"usable_cpus", "0-3,5,7"}); i < 0 || settings[0] != (Fact{"host", "alpha"}) {
		t.Error(settings)
	}
	if slices.ContainsFunc(settings, func(f Fact) bool { return f.Value == "" || f.Name == "numa_nodes" }) {
		t.Error("unknown facts are listed:", settings)
	}
}

func TestSeries(t *testing.T) {
	for release, want := range map[string]string{
		"6.8.0-45-generic": "6.8", "6.18.44": "6.18", "24.1.0": "24.1", "6.1-rc3": "6.1", "unknown": "unknown", "": "",
	} {
		if got := series(release); got != want {
			t.Errorf("series(%q) = %q, want %q", release, got, want)
		}
	}
}

func TestUsable(t *testing.T) {
	for _, test := range []struct {
		cpus  int
		quota float64
		want  int
	}{{8, 0, 8}, {8, 2, 2}, {8, 2.5, 2}, {8, 0.5, 1}, {2, 4, 2}, {0, 0, 1}} {
		if got := usable(test.cpus, test.quota); got != test.want {
			t.Errorf("usable(%d, %g) = %d, want %d", test.cpus, test.quota, got, test.want)
		}
	}
}

func TestLoadSampler(t *testing.T) {
	readings := [][2]float64{{100, 10}, {110, 14}, {110, 20}, {math.NaN(), 0}}
	s := newLoadSampler(func() (used, own float64) {
		r := readings[0]
		readings = readings[1:]
		return r[0], r[1]
	})
	// In 4 s, 10 CPU seconds were used, 4 of them by tfexp. Then a rounding error makes tfexp's usage greater than the
	// total. Then the load is unknown.
	for _, want := range []float64{1.5, 0, UnknownLoad} {
		if got := s.others(4 * time.Second); got != want {
			t.Errorf("others: %g, want %g", got, want)
		}
	}
}

// The usage of this process does not count as load of others.
func TestOwnWorkIsNotLoad(t *testing.T) {
	s := NewLoadSampler()
	_, before := cpuSeconds()
	x := 1.0
	for own := before; own < before+0.2; _, own = cpuSeconds() {
		for range 1_000_000 {
			x = math.Sqrt(x + 1)
		}
	}
	used, own := cpuSeconds()
	if own-s.own < 0.2 {
		t.Errorf("own usage of %g s after 0.2 s of work (%g)", own-s.own, x)
	}
	if math.IsNaN(used) {
		t.Skip("this system does not tell its load")
	}
	// The kernel counts usage in ticks of 10 ms, so a little is lost by rounding.
	if used-s.used < 0.1 {
		t.Errorf("all used %g s, this process alone %g s", used-s.used, own-s.own)
	}
	if others := s.Others(); others < 0 || others > float64(runtime.NumCPU()) {
		t.Errorf("others use %g cores of %d", others, runtime.NumCPU())
	}
}
