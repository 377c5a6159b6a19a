package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// A request that the daemon refuses becomes an error with a remedy. If the daemon breaks off a call, the engine tries
// again until its patience is over; then the job fails.
func TestRefusals(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	token, err := secret.Hide("open sesame")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		create http.HandlerFunc
		want   string
	}{
		{"mount", refuse(http.StatusBadRequest,
			"invalid mount config for type \"bind\": bind source path does not exist: /x"), "correct mounts in the job block"},
		{"memory", refuse(http.StatusBadRequest, "Minimum memory limit allowed is 6MB"),
			"raise memory in the job block"},
		{"image", refuse(http.StatusNotFound, "No such image: tf:latest"), "build or pull it"},
		{"other", refuse(http.StatusInternalServerError, "the disk is full"), "the disk is full"},
		{"denied", func(w http.ResponseWriter, r *http.Request) {
			asked, _ := io.ReadAll(r.Body)
			refuse(http.StatusForbidden, "authorization denied by plugin: "+string(asked))(w, r)
		}, `"TOKEN=(sensitive)"`},
		{"dropped", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "no daemon answers"},
	} {
		url := fakeDaemon(t, "1.41", map[string]http.HandlerFunc{"POST /containers/create": test.create})
		h, err := Connect(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		j := shell(t, "a", "true")
		j.Container.Image, j.Env = "tf", []string{"TOKEN=" + token}
		e, err := New([]launch.Job{j}, []Node{{Host: h, CPUs: []int{0}}}, Options{Patience: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(0, grant(0, 1)); err == nil || !strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "open sesame") {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err := errors.Join(e.Close(), h.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A grant is on one host, and uses the CPU numbers of this host.
func TestPlace(t *testing.T) {
	a, b := &Host{URL: "unix:///a"}, &Host{URL: "tcp://b:1"}
	e, err := New(nil, []Node{{Host: a, CPUs: []int{4, 5}}, {Host: b, CPUs: []int{0, 1, 2}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, test := range []struct {
		lo, hi int32
		host   *Host
		cpus   string
	}{{0, 2, a, "4,5"}, {1, 2, a, "5"}, {2, 4, b, "0,1"}, {4, 5, b, "2"}, {1, 3, nil, ""}, {4, 6, nil, ""},
		{0, 0, nil, ""}} {
		var set scheduler.Grant
		if test.hi > test.lo {
			set = grant(test.lo, test.hi)
		}
		n, cpus, err := e.nodeOf(set.Cores)
		if test.host == nil {
			if err == nil {
				t.Errorf("cores %d to %d are on %v", test.lo, test.hi, cpus)
			}
		} else if err != nil || n.Host != test.host || cpuset(cpus) != test.cpus {
			t.Errorf("cores %d to %d: %v, %v", test.lo, test.hi, cpus, err)
		}
	}
}

// If a stream of output breaks and is read again, repeated output is in the log only once.
func TestOutput(t *testing.T) {
	path := t.TempDir() + "/log"
	o, err := launch.OpenLog(path, 1<<20, false, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(s string) string { return "\x01\x00\x00\x00\x00\x00\x00" + string(rune(len(s))) + s }
	if err := copyOutput(o, strings.NewReader(frame("one\n")+frame("two\n")[:10])); err == nil {
		t.Error("a frame that is cut off is no error")
	}
	o.Reread()
	if err := copyOutput(o, strings.NewReader(frame("one\n")+frame("two\n")+frame("three\n"))); err != nil {
		t.Error(err)
	}
	o.Close("exit status 1")
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "one\ntwo\nthree\ntfexp: exit status 1\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// A container gets the GPUs of its grant by UUID, and its program sees the same UUIDs. A daemon on another machine gets
// indexes, and the program counts its GPUs from 0.
func TestGPUs(t *testing.T) {
	var created struct {
		Env        []string
		HostConfig container.HostConfig
	}
	url := fakeDaemon(t, "1.41",
		map[string]http.HandlerFunc{"POST /containers/create": func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&created); err != nil {
				t.Error(err)
			}
			refuse(http.StatusInternalServerError, "enough seen")(w, r)
		}})
	h, err := Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	e, err := New([]launch.Job{shell(t, "a", "true")}, []Node{
		{Host: h, CPUs: []int{0, 1}, GPUs: []string{"GPU-a", "GPU-b", "MIG-c"}},
		{Host: h, CPUs: []int{0, 1}, GPUs: []string{"0", "1", "2"}},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, test := range []struct {
		core, lo, hi int32
		devices      []string
		visible      string
	}{
		{0, 1, 3, []string{"GPU-b", "MIG-c"}, "GPU-b,MIG-c"},
		{2, 4, 6, []string{"1", "2"}, "0,1"},
		{2, 0, 0, nil, ""},
		{2, 1, 2, nil, "on the host of the grant's cores"},
	} {
		g := grant(test.core, test.core+1)
		if test.hi > 0 {
			g.GPUs = scheduler.CoreSet{{Lo: test.lo, Hi: test.hi}}
		}
		created.Env, created.HostConfig = nil, container.HostConfig{}
		err := e.Start(0, g)
		if err == nil {
			t.Fatal("it started")
		}
		if created.Env == nil { // no container was created
			if !strings.Contains(err.Error(), test.visible) {
				t.Errorf("%+v: %v", test, err)
			}
			continue
		}
		var devices []string
		for _, r := range created.HostConfig.DeviceRequests {
			devices = append(devices, r.DeviceIDs...)
		}
		if !slices.Equal(devices, test.devices) || !slices.Contains(created.Env, "CUDA_VISIBLE_DEVICES="+test.visible) {
			t.Errorf("%+v: devices %v, environment %v", test, devices, created.Env)
		}
	}
}
