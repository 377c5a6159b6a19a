package docker

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// overTCP returns a host that reaches the daemon of this machine by TCP, as if it were on another machine.
func overTCP(t *testing.T, h *Host) *Host {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", strings.TrimPrefix(h.URL, "unix://"))
			if err != nil {
				in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); out.(*net.UnixConn).CloseWrite() }()
			go func() { _, _ = io.Copy(in, out); in.(*net.TCPConn).CloseWrite() }()
		}
	}()
	other, err := Connect(context.Background(), "tcp://"+l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return other
}

// With several hosts each node is a daemon. The cores of the second node are numbered after the first node's, and are
// CPUs of the second host. A daemon on another machine does not see files of this one, so the engine sends the
// allotments into the containers of its jobs.
func TestSeveralHosts(t *testing.T) {
	h := local(t)
	if !h.Local() {
		t.Skip("DOCKER_HOST is another machine's")
	}
	far := overTCP(t, h)
	script := "while true; do cat $TFEXP_CONTROL; sleep 0.05; done"
	a, b := shell(t, "a", script), shell(t, "b", script)
	e, err := New([]launch.Job{a, b}, []Node{{Host: h, CPUs: []int{0, 1}}, {Host: far, CPUs: []int{0, 1}}},
		Options{Folder: "hosts"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for job, g := range []scheduler.Grant{grant(0, 2), grant(2, 4)} {
		if err := e.Start(job, g); err != nil {
			t.Fatal(err)
		}
	}
	if got := docker(t, "inspect", "--format", "{{.HostConfig.CpusetCpus}} {{len .HostConfig.Mounts}}",
		e.Programs(1)[0].id); got != "0,1 0" {
		t.Errorf("the far container has CPUs and mounts %s", got)
	}
	if err := e.Resize(1, grant(1, 2)); err == nil {
		t.Error("a container moved to another host")
	}
	for _, j := range []launch.Job{a, b} {
		until(t, "the allotment of "+j.Name, func() bool { return strings.Contains(logOf(t, j), "1 2\n") })
	}
	if err := e.Resize(1, grant(3, 4)); err != nil {
		t.Fatal(err)
	}
	until(t, "the new allotment of b", func() bool { return strings.Contains(logOf(t, b), "1 1\n") })
	if got := docker(t, "inspect", "--format", "{{.HostConfig.CpusetCpus}}", e.Programs(1)[0].id); got != "1" {
		t.Errorf("the far container has CPUs %s", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
