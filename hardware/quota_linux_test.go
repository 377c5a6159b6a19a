package hardware

import (
	"os"
	"path/filepath"
	"testing"
)

func TestQuota(t *testing.T) {
	for _, test := range []struct {
		name   string
		groups string
		files  map[string]string
		want   float64
	}{
		{"no limit", "0::/user.slice\n", map[string]string{"user.slice/cpu.max": "max 100000\n"}, 0},
		{"no files", "0::/user.slice\n", nil, 0},
		{"own group", "0::/a/b\n", map[string]string{"a/b/cpu.max": "150000 100000\n"}, 1.5},
		{"the tightest above", "0::/a/b\n", map[string]string{"a/cpu.max": "200000 100000\n",
			"a/b/cpu.max": "400000 100000\n"}, 2},
		{"root of a container", "0::/\n", map[string]string{"cpu.max": "50000 100000\n"}, 0.5},
		{"version 1", "3:cpuset:/\n2:cpu,cpuacct:/a\n0::/\n",
			map[string]string{"cpu/a/cpu.cfs_quota_us": "300000\n", "cpu/a/cpu.cfs_period_us": "100000\n",
				"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3},
		{"version 1, joint folder", "2:cpu,cpuacct:/\n",
			map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "100000\n", "cpu,cpuacct/cpu.cfs_period_us": "50000\n"}, 2},
		{"nonsense", "what\n0::/a\n", map[string]string{"a/cpu.max": "x\n"}, 0},
	} {
		root := t.TempDir()
		for name, content := range test.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := quotaOf(root, test.groups); got != test.want {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
	}
}
