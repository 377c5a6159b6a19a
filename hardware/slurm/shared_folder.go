package slurm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/results/folder"
)

// SharedFolderPatience is how long to wait for a node that can check whether it sees the folder of results.
const SharedFolderPatience = 5 * time.Second

// ErrNotShared is wrapped by errors that say that a node does not see a folder of this machine.
var ErrNotShared = errors.New("the folder is not shared with the nodes")

// ErrBusy is wrapped by errors that say that no node was free to check the folder.
var ErrBusy = errors.New("no node was free to check the folder")

// SharedFolderHint is the remedy for ErrNotShared.
const SharedFolderHint = "put results on a file system that all nodes mount, with --out (often your home or a " +
	"scratch folder; /tmp seldom is one)"

// CheckSharedFolder checks whether a node sees a folder of this machine and a program. A short job on the node reads a
// file there, writes another, and looks for the program. CheckSharedFolder returns ErrBusy if no node is free for the
// job within patience.
func CheckSharedFolder(ctx context.Context, r Request, dir, program string, patience time.Duration) error {
	probe, err := NewFolderProbe(dir)
	if err != nil {
		return err
	}
	defer probe.Close()
	r.Name, r.Nodes, r.Threads, r.Whole, r.Memory, r.Time, r.GRES = "tfexp-probe", 1, 1, false, 0, time.Minute, ""
	seconds := max(1, int(patience/time.Second))
	args := append(r.Args(), "--immediate="+strconv.Itoa(seconds), "--quiet", "--input=none", "--chdir=/")
	args = append(args, probe.Command(program)...)
	out, err := slurmcmd.Run(ctx, patience+30*time.Second, "srun", args...)
	return probe.Judge(out, err)
}

// FolderProbe checks whether another machine sees a folder of this one.
type FolderProbe struct{ dir, token string }

// NewFolderProbe writes a file with a random name into a folder. The other machine must find it.
func NewFolderProbe(dir string) (*FolderProbe, error) {
	f, err := folder.CreateTemp(dir, ".probe-")
	if err != nil {
		return nil, fmt.Errorf("look whether the folder is shared: %w", err)
	}
	if _, err := f.WriteString("tfexp\n"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &FolderProbe{dir: dir, token: f.Name()}, f.Close()
}

// Command returns the command that a node runs. It prints "seen" if it could read the file and write another, and
// "program" if the program also exists. An empty program is not checked.
func (p *FolderProbe) Command(program string) []string {
	script := `test "$(cat "$1" 2>/dev/null)" = tfexp && echo tfexp 2>/dev/null >"$1.back" && echo seen
test -z "$2" || test -x "$2" && echo program; true`
	return []string{"/bin/sh", "-c", script, "sh", p.token, program}
}

// Judge evaluates the output of the command, or its error.
func (p *FolderProbe) Judge(out string, err error) error {
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrBusy, err)
	}
	back, _ := folder.ReadFile(filepath.Split(p.token + ".back"))
	switch {
	case !strings.Contains(out, "seen") || string(back) != "tfexp\n":
		return fmt.Errorf("%w: %s is missing there, or is a different folder", ErrNotShared, p.dir)
	case !strings.Contains(out, "program"):
		return fmt.Errorf("%w: the nodes have no tfexp at the path that it has on this machine", ErrNotShared)
	}
	return nil
}

// Path returns the path of the file that a node must read.
func (p *FolderProbe) Path() string { return p.token }

// Close removes the files of the probe.
func (p *FolderProbe) Close() {
	for _, name := range []string{p.token, p.token + ".back"} {
		folder.Remove(filepath.Clean(name))
	}
}
