package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/scheduler"
)

// ownDaemon is a Docker daemon with its own socket and data. A test may stop it without effects on other daemons.
type ownDaemon struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

func startDaemon(t *testing.T) *ownDaemon {
	t.Helper()
	local(t) // its image is copied to the new daemon
	_, err := exec.LookPath("dockerd")
	if err == nil && os.Getuid() != 0 {
		err = errors.New("only root can start dockerd")
	}
	need.This(t, "docker", err, "run the test as root, with dockerd installed, as .ci/docker does")
	// Paths of sockets must be short, but a test's folder may have a long path.
	dir, err := os.MkdirTemp("", "dk")
	if err != nil {
		t.Fatal(err)
	}
	d := &ownDaemon{t: t, dir: dir}
	t.Cleanup(func() {
		d.stop(syscall.SIGTERM)
		// Mounts of containers may still exist after a daemon was killed.
		mounts, _ := os.ReadFile("/proc/mounts")
		for line := range strings.SplitSeq(string(mounts), "\n") {
			if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], dir) {
				_ = syscall.Unmount(f[1], syscall.MNT_DETACH)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Log(err)
		}
	})
	d.start()
	load := exec.Command("sh", "-c", fmt.Sprintf("docker save %s | docker --host %s load", testImage, d.url()))
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return d
}

func (d *ownDaemon) url() string { return "unix://" + filepath.Join(d.dir, "sock") }

func (d *ownDaemon) start() {
	d.t.Helper()
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		d.t.Fatal(err)
	}
	defer log.Close()
	// A killed daemon does not remove these files, and a new one may fail because of them.
	os.Remove(d.dir + "/pid")
	os.Remove(d.dir + "/exec/containerd/containerd.pid")
	d.cmd = exec.Command("dockerd", "--host", d.url(), "--data-root", d.dir+"/data", "--exec-root", d.dir+"/exec",
		"--pidfile", d.dir+"/pid", "--iptables=false", "--bridge=none")
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	until(d.t, "the daemon's answer", func() bool {
		h, err := Connect(context.Background(), d.url())
		if err == nil {
			h.Close()
		}
		return err == nil
	})
}

// stop sends a signal to the daemon and waits for its end.
func (d *ownDaemon) stop(s syscall.Signal) {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(s)
	_ = d.cmd.Wait()
	d.cmd = nil
}

func (d *ownDaemon) connect() *Host {
	d.t.Helper()
	h, err := Connect(context.Background(), d.url())
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { h.Close() })
	return h
}

// If a daemon is stopped or killed and then started again, its containers end. Their jobs fail with that reason and can
// be started again. Actions on these jobs in the meantime are no errors.
func TestDaemonRestarts(t *testing.T) {
	for _, test := range []struct {
		name   string
		signal syscall.Signal
	}{{"stopped", syscall.SIGTERM}, {"killed", syscall.SIGKILL}} {
		t.Run(test.name, func(t *testing.T) {
			d := startDaemon(t)
			j := shell(t, "a", "echo begun; [ -e $TFEXP_CHECKPOINT_DIR/x ] || { touch $TFEXP_CHECKPOINT_DIR/x; trap "+
				"'exit 143' TERM; sleep 60 & wait; }")
			e := newEngine(t, d.connect(), Options{}, j)
			if err := e.Start(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			until(t, "the first line", func() bool { return strings.Contains(logOf(t, j), "begun") })
			d.stop(test.signal)
			back := make(chan struct{})
			go func() {
				defer close(back)
				time.Sleep(300 * time.Millisecond) // so that the next call finds the daemon gone
				d.start()
			}()
			if err := e.Pause(0); err != nil {
				t.Errorf("pause while the daemon is away: %v", err)
			}
			<-back
			end := ended(t, e)
			if end.State != scheduler.Failed || !strings.Contains(end.Reason, "stopped or restarted while the job ran") {
				t.Fatalf("%+v", end)
			}
			if err := e.Start(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			if end := ended(t, e); end.State != scheduler.Finished {
				t.Errorf("%+v", end)
			}
			if log := logOf(t, j); strings.Count(log, "begun") != 2 {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// If a daemon does not come back, its jobs fail. Their containers are removed when it is back.
func TestDaemonStaysAway(t *testing.T) {
	d := startDaemon(t)
	h := d.connect()
	j := shell(t, "a", "sleep 60")
	e, err := New([]launch.Job{j, j}, []Node{{Host: h, CPUs: []int{0, 1}}},
		Options{Folder: "gone", Patience: time.Second, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	d.stop(syscall.SIGKILL)
	if err := e.Start(1, grant(1, 2)); err == nil || !strings.Contains(err.Error(), "no daemon answers") {
		t.Errorf("a start without a daemon: %v", err)
	}
	if end := ended(t, e); end.State != scheduler.Failed || !strings.Contains(end.Reason,
		"stopped answering and did not come back") {
		t.Errorf("%+v", end)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	d.start()
	if _, err := removeAll(h, "gone"); err != nil {
		t.Error(err)
	}
	if left, err := h.Containers(context.Background(), ""); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
