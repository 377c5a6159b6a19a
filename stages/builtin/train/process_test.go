package train

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// asProgram makes the test binary a training program: TestMain runs Main.
const asProgram = "BUILTIN_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(time.Now(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func nameOf(args []string, threads int) string {
	return fmt.Sprintf("%s/threads=%d", strings.Join(args, " "), threads)
}

// running is a training in a separate process.
func running(env []string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, args...)
	// The race detector sleeps for a second at every exit unless atexit_sleep_ms is 0.
	cmd.Env = append([]string{asProgram + "=1", "GORACE=atexit_sleep_ms=0"}, env...)
	return cmd
}

// output runs a training to its end.
func output(t *testing.T, env []string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := running(env, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, errs.String())
	}
	return out.String(), errs.String()
}

func report(t *testing.T, out string) contract.Report {
	t.Helper()
	r, err := contract.Parse(strings.NewReader(out), contract.Last)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatalf("parse: %v, warnings %q", err, r.Warnings)
	}
	return r
}

func TestProgramSpeaksTheContract(t *testing.T) {
	out, errs := output(t, []string{"TFEXP_EPOCHS=3", "TFEXP_INTER_THREADS=1", "TFEXP_INTRA_THREADS=2"}, "mlp", "--hidden",
		"[8, 4]")
	r := report(t, out)
	if errs != "" {
		t.Errorf("stderr: %s", errs)
	}
	if len(r.Epochs) != 3 || r.Startup < 0 || r.Save < 0 || r.Updates != 3 {
		t.Errorf("report %+v, want 3 epochs in 3 lines with start-up and save", r)
	}
	if p := r.Progress; p.Epoch != 3 || p.Step != 135 || p.Threads != 2 {
		t.Errorf("last line has epoch %d, step %d, threads %d, want 3, 135, 2", p.Epoch, p.Step, p.Threads)
	}
}

func TestStepsAndPasses(t *testing.T) {
	out, _ := output(t, []string{"TFEXP_STEPS=100"}, "softmax", "--passes", "2")
	r := report(t, out)
	if p := r.Progress; p.Step != 100 || p.Epoch != 0 || len(r.Epochs) != 2 || r.Updates != 2 {
		t.Errorf("100 steps: %+v, want one epoch of 90 steps and a rest of 10", r)
	}
}

// stopAfter runs a training and sends SIGTERM when it has printed some epochs;
// it returns the training's output.
func stopAfter(t *testing.T, epochs int, env []string, args ...string) string {
	t.Helper()
	cmd := running(env, args...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := bufio.NewReader(pipe)
	for range epochs {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(line)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(rest)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != contract.ExitStopped {
		t.Fatalf("stopped training: %v, want exit status %d\n%s", err, contract.ExitStopped, errs.String())
	}
	return out.String()
}

// course returns the output of a training without times and numbers of threads.
func course(t *testing.T, out string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(out) {
		r := report(t, line)
		if r.Updates == 1 {
			all = append(all, fmt.Sprintf("%d %d %v %v", r.Progress.Epoch, r.Progress.Step, *r.Loss, *r.Accuracy))
		}
	}
	return all
}

func TestStopAndContinue(t *testing.T) {
	for _, optimizer := range []string{"adam", "sgd"} {
		t.Run(optimizer, func(t *testing.T) {
			dir := t.TempDir()
			whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
			env := []string{"TFEXP_INTRA_THREADS=2", "TFEXP_CHECKPOINT_DIR=" + filepath.Join(dir, "ck")}
			args := []string{"mlp", "--hidden", "16", "--optimizer", optimizer, "--epochs"}

			// It is stopped at any time, twice; then it trains three more epochs.
			got := stopAfter(t, 2, env, append(args, "1000000")...)
			got += stopAfter(t, 3, env, append(args, "1000000")...)
			if _, err := os.Stat(filepath.Join(dir, "ck", checkpointFile)); err != nil {
				t.Fatalf("no checkpoint: %v", err)
			}
			epochs := strconv.Itoa(report(t, got).Progress.Epoch + 3)
			out, errs := output(t, env, append(args, epochs, "--save", parts)...)
			want, _ := output(t, nil, append(args, epochs, "--save", whole)...)
			if !strings.Contains(errs, "continuing from the checkpoint") {
				t.Errorf("stderr: %q", errs)
			}
			if diff := cmp.Diff(course(t, want), course(t, got+out)); diff != "" {
				t.Errorf("interrupted training goes another way (-whole +parts):\n%s", diff)
			}
			a, errA := os.ReadFile(whole)
			b, errB := os.ReadFile(parts)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Errorf("saved networks differ (%v, %v)", errA, errB)
			}
			left, err := os.ReadDir(filepath.Join(dir, "ck"))
			if err != nil || len(left) > 0 {
				t.Errorf("finished training leaves %v behind (%v)", left, err)
			}
		})
	}
}

func TestStopWithoutAPlaceForACheckpoint(t *testing.T) {
	stopAfter(t, 1, []string{"TFEXP_EPOCHS=1000000"}, "softmax")
}

func TestUselessCheckpointsAreIgnored(t *testing.T) {
	c := configOf(t, "softmax")
	n := network.New(c.shape()).Params()
	other := configOf(t, "softmax", "--seed", "9")
	good := state{Steps: 3, Weights: make([]float64, n), M: make([]float64, n), V: make([]float64, n)}
	for name, leave := range map[string]func(path string) error{
		"another configuration": func(path string) error { return writeCheckpoint(path, other, good) },
		"wrong size": func(path string) error {
			return writeCheckpoint(path, c,
				state{Steps: 3, Weights: []float64{1}})
		},
		"empty": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"cut short": func(path string) error {
			if err := writeCheckpoint(path, c, good); err != nil {
				return err
			}
			return os.Truncate(path, 100)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := leave(filepath.Join(dir, checkpointFile)); err != nil {
				t.Fatal(err)
			}
			out, errs := output(t, []string{"TFEXP_EPOCHS=1", "TFEXP_CHECKPOINT_DIR=" + dir}, "softmax")
			if !strings.Contains(errs, "starting from the beginning") || report(t, out).Progress.Step != 45 {
				t.Errorf("stdout %q, stderr %q", out, errs)
			}
		})
	}
}

func TestAllotmentIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control")
	if err := replaceControl(path, []byte("1 1\n")); err != nil {
		t.Fatal(err)
	}
	cmd := running([]string{"TFEXP_EPOCHS=1000000", "TFEXP_INTRA_THREADS=4", "TFEXP_CONTROL=" + path}, "mlp")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errPipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	warnings := make(chan string, 100)
	go func() {
		for sc := bufio.NewScanner(errPipe); sc.Scan(); {
			warnings <- sc.Text()
		}
		close(warnings)
	}()
	lines := bufio.NewReader(pipe)
	threads := func() int {
		t.Helper()
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return report(t, line).Progress.Threads
	}
	// The file has precedence over the environment.
	if n := threads(); n != 1 {
		t.Errorf("begins with %d threads, want 1", n)
	}
	before := 1
	for _, n := range []int{3, 2} {
		if err := replaceControl(path, fmt.Appendf(nil, "1 %d\n", n)); err != nil {
			t.Fatal(err)
		}
		got := threads()
		for got == before {
			got = threads()
		}
		if got != n {
			t.Fatalf("%d threads after %d, want %d", got, before, n)
		}
		before = n
	}
	// A broken file changes nothing and is reported once.
	if err := os.WriteFile(path+".new", []byte("many"), 0o600); err != nil { // whole, as a writer of such files leaves it
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	told := 0
	for more := 3; more > 0; {
		select {
		case <-warnings:
			told++
		default:
		}
		if told > 0 {
			more--
		}
		if n := threads(); n != 2 {
			t.Fatalf("%d threads with a broken control file, want 2", n)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, lines)
	var rest []string
	for w := range warnings {
		rest = append(rest, w)
	}
	cmd.Wait()
	if told != 1 || len(rest) != 1 || !strings.Contains(rest[0], "stopped after step") {
		t.Errorf("%d warnings, then %q", told, rest)
	}
}

func TestWrongUse(t *testing.T) {
	for _, test := range []struct {
		env, args []string
		want      string
	}{
		{nil, nil, "name the program to train: softmax, svm, mlp, cnn"},
		{nil, []string{"sofmax"}, `did you mean "softmax"?`},
		{nil, []string{"tree"}, `there is no program "tree": use`},
		{nil, []string{"mlp", "--hidden", "8,none"}, `"none": the value must be a whole number of at least 1`},
		{nil, []string{"mlp", "--hidden", "[]"}, "give at least one whole number"},
		{nil, []string{"mlp", "--hidden", "9000000"}, "at most 8388608"},
		{nil, []string{"mlp", "--hidden", "60000,60000"}, "parameters; at most"},
		{nil, []string{"cnn", "--hidden", "8,8"}, "the value must be one whole number"},
		{nil, []string{"softmax", "--hidden", "8"}, "not defined: -hidden"},
		{nil, []string{"svm", "--regularization", "-1"}, "the value must be a number of at least 0"},
		{nil, []string{"svm", "--learning-rate", "0"}, "the value must be a number above 0"},
		{nil, []string{"svm", "--learning-rate", "NaN"}, "the value must be a number"},
		{nil, []string{"svm", "--batch", "0"}, "the value must be a whole number of at least 1"},
		{nil, []string{"svm", "--optimizer", "adagrad"}, "the value must be adam or sgd"},
		{nil, []string{"svm", "--epochs", "1", "--steps", "1"}, "both --epochs and --steps"},
		{nil, []string{"cnn", "--blocks", "1,2"}, "blocks has 2 numbers, and the network has 3 blocks"},
		{nil, []string{"mlp", "--blocks", "65"}, "a block may have at most 64 layers"},
		{nil, []string{"mlp", "--activation", "sine"}, "the value must be relu or tanh"},
		{nil, []string{"mlp", "--decay", "1.5"}, "at most 1"},
		{nil, []string{"mlp", "--restart-rate", "0"}, "the value must be a number above 0"},
		{nil, []string{"svm", "more"}, `unexpected argument "more"`},
		{[]string{"TFEXP_EPOCHS=ten"}, []string{"svm"}, `TFEXP_EPOCHS is "ten"`},
	} {
		cmd := running(test.env, test.args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%q %q: exit %d, stderr %q; want exit %d and %q", test.env, test.args, code, errs.String(), exitUsage,
				test.want)
		}
	}
}

func TestHelpShowsEverySetting(t *testing.T) {
	out, _ := output(t, nil, "--help")
	for _, p := range Programs() {
		if !strings.Contains(out, p.Name) {
			t.Errorf("help lacks %s:\n%s", p.Name, out)
		}
		own, _ := output(t, nil, p.Name, "--help")
		for _, param := range p.Params {
			if flag := "--" + strings.ReplaceAll(param.Name, "_", "-"); !strings.Contains(own, flag+" ") {
				t.Errorf("help of %s lacks %s:\n%s", p.Name, flag, own)
			}
		}
	}
}
