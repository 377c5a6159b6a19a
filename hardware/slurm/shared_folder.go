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

// SharedFolderPatience is how long to wait for a node that checks whether the folder of results is shared.
const SharedFolderPatience = 5 * time.Second

// ErrNotShared is wrapped when a node does not see a folder of this machine.
var ErrNotShared = errors.New("the folder is not shared with the nodes")

// ErrBusy is wrapped when no node was free to look.
var ErrBusy = errors.New("no node was free to look")

// SharedFolderHint is the remedy for that.
const SharedFolderHint = "put results on a file system that all nodes mount, with --out (often your home or a " +
	"scratch folder; /tmp seldom is one)"

// CheckSharedFolder has a node of the request read a file in a folder of this machine, write one there, and look for a
// program: one short job. It returns ErrBusy when no node is free for that within patience.
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

// FolderProbe is a check of a folder from another machine.
type FolderProbe struct{ dir, token string }

// NewFolderProbe writes a file into a folder, for another machine to find.
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

// Command is the command of a node: it prints "seen" if it could read the file and write another, and "program" if the
// program exists as well. An empty program is not checked.
func (p *FolderProbe) Command(program string) []string {
	script := `test "$(cat "$1" 2>/dev/null)" = tfexp && echo tfexp 2>/dev/null >"$1.back" && echo seen
test -z "$2" || test -x "$2" && echo program; true`
	return []string{"/bin/sh", "-c", script, "sh", p.token, program}
}

// Judge reads the answer of a node.
func (p *FolderProbe) Judge(out string, err error) error {
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrBusy, err)
	}
	back, _ := folder.ReadFile(filepath.Split(p.token + ".back"))
	switch {
	case !strings.Contains(out, "seen") || string(back) != "tfexp\n":
		return fmt.Errorf("%w: %s is another one there, or missing", ErrNotShared, p.dir)
	case !strings.Contains(out, "program"):
		return fmt.Errorf("%w: the nodes do not have tfexp at the path that it has here", ErrNotShared)
	}
	return nil
}

// Path is the file to read.
func (p *FolderProbe) Path() string { return p.token }

// Close removes its files.
func (p *FolderProbe) Close() {
	for _, name := range []string{p.token, p.token + ".back"} {
		folder.Remove(filepath.Clean(name))
	}
}
