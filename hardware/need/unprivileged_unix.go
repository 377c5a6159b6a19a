//go:build unix

package need

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// envOther is set in tests that run a second time as another user.
const envOther = "TFEXP_TEST_NOBODY"

// Nobody is a user without privileges.
var Nobody = &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: false}

// Unprivileged runs the tests of this program again as a user without privileges, who cannot write control groups,
// if they run as root. TestMain calls it. It returns the exit status; the caller then runs the tests as root.
func Unprivileged(*testing.M) (code int) {
	fuzzes := slices.ContainsFunc(os.Args[1:], func(arg string) bool { return strings.HasPrefix(arg, "-test.fuzz") })
	if os.Getuid() != 0 || os.Getenv(envOther) != "" || fuzzes { // a fuzzer writes inputs to a folder of root
		return 0
	}
	dir, err := os.MkdirTemp("", "tfexp-nobody-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, filepath.Base(os.Args[0]))
	if err := errors.Join(Copy("/proc/self/exe", program), os.Chown(dir, 65534, 65534)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cmd := exec.Command(program)
	for _, arg := range os.Args[1:] { // only the tests as root write the output files of go test
		if !strings.HasPrefix(arg, "-test.testlogfile") && !strings.HasPrefix(arg, "-test.cover") &&
			!strings.HasPrefix(arg, "-test.gocover") && !strings.HasPrefix(arg, "-test.outputdir") {
			cmd.Args = append(cmd.Args, arg)
		}
	}
	cmd.Env = append(os.Environ(), envOther+"=1", "HOME="+dir, "TMPDIR="+dir,
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: Nobody}
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "as a user without rights:", err)
		return 1
	}
	return 0
}

// Copy copies a program.
func Copy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
