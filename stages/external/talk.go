package external

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/process"
	library "github.com/tfexp/tfexp/jobs/tfexp_policy"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
)

// Limits on a program.
const (
	maxAnswer  = 16 << 20 // bytes of a line
	maxTail    = 64 << 10 // bytes of its error output that are kept
	shownLines = 10       // of its error output, in a message
	farewell   = 3 * time.Second
)

// talk is a program that answers each line with a line.
type talk struct {
	program *process.Companion
	answers *bufio.Reader
	limit   time.Duration
	late    *time.Timer
	why     atomic.Pointer[string] // why tfexp ended it
	said    *tail
	drained chan struct{}
	release func() bool // stops the watch of the context
}

// start starts the program of a task.
func start(ctx context.Context, t *stages.Task) (*talk, error) {
	set := of(t.Policy.Settings)
	env := []string{
		"PYTHONHASHSEED=0", // sets of texts are in the same order each time
		fmt.Sprintf("TFEXP_POLICY_SPIN=%d", process.Spin().Microseconds()),
	}
	if dir, err := libraryFolder(); err == nil {
		path := []string{dir}
		if own := os.Getenv("PYTHONPATH"); own != "" {
			path = append(path, own)
		}
		env = append(env, "PYTHONPATH="+strings.Join(path, string(os.PathListSeparator)))
	}
	p, err := process.StartCompanion(set.Command, t.Base, env)
	if err != nil {
		return nil, fmt.Errorf("policy %q: %w", t.Setup.Cell.Policy, err)
	}
	k := &talk{
		program: p, answers: bufio.NewReaderSize(p, 1<<16), limit: set.Limit, said: &tail{}, drained: make(chan struct{}),
	}
	k.late = time.AfterFunc(time.Hour, func() {
		k.kill(fmt.Sprintf("it took longer than %s for an answer (limit)", k.limit))
	})
	k.late.Stop()
	k.release = context.AfterFunc(ctx, func() { k.kill("tfexp was interrupted") })
	go func() {
		defer close(k.drained)
		defer p.Err.Close()
		io.Copy(k.said, p.Err)
	}()
	return k, nil
}

// libraryFolder is where the Python library is: with the user's caches, in a folder for each version.
var libraryFolder = sync.OnceValues(func() (string, error) {
	home, err := os.UserCacheDir()
	if err != nil {
		home = os.TempDir()
	}
	dir := filepath.Join(home, "tfexp", "python-"+library.Version)
	for _, f := range library.Files {
		path := filepath.Join(dir, f.Name)
		if raw, err := folder.ReadSystem(path); err == nil && bytes.Equal(raw, f.Source) {
			continue
		}
		if err := folder.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if err := folder.Write(path, f.Source, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// kill ends the program; the first reason counts.
func (k *talk) kill(why string) {
	k.why.CompareAndSwap(nil, &why)
	k.program.Kill()
}

// ask sends a line, without its end, and returns the answer, which holds until the next call.
func (k *talk) ask(line []byte) (answer []byte, err error) {
	k.late.Reset(k.limit)
	defer k.late.Stop()
	if answer, err = k.exchange(line); err != nil {
		k.late.Stop()
		return nil, k.failed(err)
	}
	return answer, nil
}

// errTalks is returned for a program that writes too much.
var (
	errTalks = errors.New("each message has one line for an answer, and standard output nothing else")
	errFlood = fmt.Errorf("its answer is longer than %d MiB: %w", maxAnswer>>20, errTalks)
)

// exchange writes a line to the program's standard input, and reads one from its standard output.
func (k *talk) exchange(line []byte) ([]byte, error) {
	if k.answers.Buffered() > 0 {
		return nil, fmt.Errorf("it printed more than one line for a message: %w", errTalks)
	}
	if _, err := k.program.In.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	line, err := k.answers.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if line, err = k.answers.ReadSlice('\n'); len(long)+len(line) > maxAnswer {
			return nil, errFlood
		}
		long = append(long, line...)
	}
	return bytes.TrimSuffix(long, []byte("\n")), err
}

// failed returns the reason that there is no answer, and ends the program.
func (k *talk) failed(err error) error {
	if errors.Is(err, errTalks) {
		k.kill(err.Error())
	}
	closed := time.AfterFunc(farewell, func() { k.kill("it closed its standard output, and went on") })
	end := k.end(2 * farewell)
	closed.Stop()
	if why := k.why.Load(); why != nil {
		return k.quote(*why)
	}
	end = cmp.Or(end, "exit status 0")
	return k.quote("it ended before it answered: " + end)
}

// quote adds the last lines of the program's error output to an error.
func (k *talk) quote(why string) error {
	if last := k.said.last(shownLines); last != "" {
		why += "; its last lines:\n  │ " + strings.ReplaceAll(last, "\n", "\n  │ ")
	}
	return errors.New(why)
}

// end closes the program's input, and waits for its end.
func (k *talk) end(patience time.Duration) string {
	k.release()
	how := k.program.Wait(patience)
	select {
	case <-k.drained:
	case <-time.After(farewell):
	}
	return how
}

// tail keeps the end of the text written to it.
type tail struct {
	mu   sync.Mutex // guards the fields below
	text []byte
	lost int
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > maxTail {
		t.text, t.lost = append(t.text[:0], t.text[over:]...), t.lost+over
	}
	return len(b), nil
}

// last returns the last lines.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(t.text), "?"), "\n "), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
