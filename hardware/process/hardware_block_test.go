//go:build unix

package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// Hardware that exceeds this machine is an error at the argument that requests it. Missing GPUs are no error in the
// experiment, but it cannot run here.
func TestMachineIsThisOne(t *testing.T) {
	host := engine.Host{Threads: 4, MemoryBytes: 8 << 30, GPUs: 1}
	for _, c := range []struct {
		node scheduler.Node
		arg  string // the argument with the error; empty if there is no error
	}{
		{scheduler.Node{Threads: 4, Memory: 8 << 30, GPUs: 1}, ""},
		{scheduler.Node{Threads: 5}, "threads"},
		{scheduler.Node{Threads: 4, Memory: 9 << 30}, "memory"},
		{scheduler.Node{Threads: 4, GPUs: 2}, "gpus"},
	} {
		h := &engine.Hardware{Name: "h", Kind: &kind, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{c.node}}}
		problems := kind.Check(h, host)
		switch {
		case c.arg == "" && len(problems) > 0, c.arg != "" && (len(problems) != 1 || problems[0].Arg != c.arg):
			t.Errorf("%+v: %+v", c.node, problems)
		case c.arg != "" && problems[0].Unavailable != (c.arg == "gpus"):
			t.Errorf("%+v: unavailable is %v", c.node, problems[0].Unavailable)
		}
		if c.arg == "" {
			asks := &engine.Job{Name: "j", GPUs: 2}
			if p := kind.CheckJob(h, asks, host); len(p) != 1 || !p[0].Unavailable ||
				!strings.Contains(p[0].Detail, `The job "j" asks for 2 GPUs, but this machine has 1`) {
				t.Errorf("a job with too many GPUs: %+v", p)
			}
		}
	}
	if n := kind.Machine(engine.Block{}, host); n.Threads != 4 || n.Memory != 8<<30 || n.GPUs != 1 {
		t.Errorf("the defaults are %+v", n)
	}
	h := &engine.Hardware{Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}}}
	if c := kind.Capabilities(h); !c.Pause || !c.Resize || c.Memory || c.GPUs {
		t.Errorf("without GPUs it can %+v", c)
	}
}

// A session gives programs the GPUs of the run. A note in its folder lists what must be ended if tfexp is killed.
func TestSite(t *testing.T) {
	dir := t.TempDir()
	run := engine.Run{Dir: dir, GPUs: func() ([]gpu.Device, error) { return []gpu.Device{{ID: "GPU-a"}}, nil }}
	site, removed, err := kind.Open(run)
	if err != nil || len(removed) > 0 || !site.Local(nil) {
		t.Fatal(removed, err)
	}
	j := sh(`echo "$CUDA_VISIBLE_DEVICES"`)
	j.LogPath = filepath.Join(dir, "log")
	e, err := site.Engine(context.Background(), engine.Task{Cell: "c", Jobs: []launch.Job{j}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "processes.json")); err != nil {
		t.Error(err)
	}
	g := cores(0)
	g.GPUs = scheduler.CoreSet{{Lo: 0, Hi: 1}}
	if err := e.Start(0, g); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Next(context.Background(), scheduler.Never); err != nil {
		t.Error(err)
	}
	if log := read(t, j.LogPath); log != "GPU-a\n" {
		t.Errorf("the program sees %q", log)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "processes.json")); err == nil {
		t.Error("the notes outlive the engine")
	}
}

// If the folder of results cannot be written, the error does not say that the engine is unavailable.
func TestSiteInAFolderThatIsNotThere(t *testing.T) {
	run := engine.Run{
		Dir: filepath.Join(t.TempDir(), "gone"), GPUs: func() ([]gpu.Device, error) { return nil, nil },
	}
	site, _, err := kind.Open(run)
	if err != nil {
		t.Fatal(err)
	}
	_, err = site.Engine(context.Background(), engine.Task{Cell: "c"})
	var missing *engine.Unavailable
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, &missing) {
		t.Errorf("the engine: %v", err)
	}
}

func TestDoctor(t *testing.T) {
	for _, c := range kind.Doctor(context.Background(), nil) {
		if c.Name == "" || c.Text == "" || c.Status == hardware.Fail {
			t.Errorf("%+v", c)
		}
	}
}
