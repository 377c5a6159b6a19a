package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/results/folder"
)

func TestHosts(t *testing.T) {
	for list, want := range map[string]string{
		"":                      "",
		"n1":                    "n1",
		"n[1-3,07],login":       "n1 n2 n3 n07 login",
		"a[1-2]b[08-10]":        "a1b08 a1b09 a1b10 a2b08 a2b09 a2b10",
		"gpu-a[3],gpu-b,c[1,5]": "gpu-a3 gpu-b c1 c5",
	} {
		got, err := ExpandHosts(list)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v, want %q", list, got, err, want)
		}
	}
	for _, list := range []string{"n[1-", "n[2-1]", "n[x]"} {
		if got, err := ExpandHosts(list); err == nil {
			t.Errorf("%q: %q, want an error", list, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	if got, err := ExpandNumbers("0-2,5\n"); err != nil || !slices.Equal(got, []int{0, 1, 2, 5}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ExpandNumbers("1-x"); err == nil {
		t.Error("no error")
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"59": 59 * time.Second, "4:57": 4*time.Minute + 57*time.Second, "1:02:03": time.Hour + 2*time.Minute + 3*time.Second,
		"2-00:00:10": 48*time.Hour + 10*time.Second, "1-0": 24 * time.Hour, "0-00:10": 10 *
			time.Minute, "UNLIMITED": Unlimited,
	} {
		if got, ok := ParseTime(text); !ok || got != want {
			t.Errorf("%q: %s, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "INVALID", "1:x", "1:2:3:4"} {
		if got, ok := ParseTime(text); ok {
			t.Errorf("%q: %s", text, got)
		}
	}
	for d, want := range map[time.Duration]string{
		time.Second: "0-00:01:00", 61 * time.Second: "0-00:02:00", 26 * time.Hour: "1-02:00:00",
	} {
		if got := FormatTimeLimit(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func TestArgs(t *testing.T) {
	r := Request{
		Name: "x", Partition: "main", Nodes: 3, Threads: 2, Memory: 1<<30 + 1, Time: time.Hour, Whole: true,
		More: map[string]string{"reservation": "r", "oversubscribe": ""},
	}
	want := "--job-name=x --partition=main --nodes=3 --ntasks=3 --ntasks-per-node=1 --cpus-per-task=2 --mem=1025M " +
		"--time=0-01:00:00 --exclusive --oversubscribe --reservation=r"
	if diff := cmp.Diff(want, strings.Join(r.Args(), " ")); diff != "" {
		t.Error(diff)
	}
}

// fakes puts programs of these names on the PATH, each a script.
func fakes(t *testing.T, scripts map[string]string) {
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
}

// all returns scripts for all commands; each script is the given one.
func all(script string) map[string]string {
	m := map[string]string{}
	for _, c := range slurmcmd.Commands {
		m[c] = script
	}
	return m
}

const twoPartitions = `case "$0 $*" in
*scontrol*partition*) echo "PartitionName=main Default=YES TotalNodes=3 MaxNodes=UNLIMITED MaxTime=1-00:00:00 State=UP"
echo "PartitionName=small Default=NO TotalNodes=1 MaxNodes=1 MaxTime=00:10:00 State=UP"
echo "PartitionName=old Default=NO TotalNodes=1 MaxNodes=1 MaxTime=UNLIMITED State=DOWN" ;;
esac`

// Each request that the cluster cannot grant is an error with a remedy, and nothing is submitted.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name    string
		request Request
		sbatch  string // its output and effects
		want    string // part of the error
		hint    string
	}{
		{"good", Request{Nodes: 3, Time: time.Hour}, "exit 0", "", ""},
		{"a partition that is not there", Request{Partition: "gpu"}, "exit 0", `called "gpu"; the partitions are main, small, old`, "sinfo"},
		{"too many nodes", Request{Nodes: 4}, "exit 0", "the request is for 4 nodes", "fewer nodes"},
		{"too many nodes for a job", Request{Partition: "small", Nodes: 1, Time: time.Hour}, "exit 0", "the request is for 1h0m0s",
			"less time"},
		{"a partition that is down", Request{Partition: "old"}, "exit 0", "not up", "sinfo"},
		{"a quota", Request{}, `echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)" >&2; exit 1`,
			"accounting/QOS policy", "until some of your jobs have ended"},
		{"a full queue", Request{}, `echo "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying
sbatch: error: allocation failure: Resource temporarily unavailable" >&2; exit 1`, "temporarily unavailable", "try again later"},
		{"an account", Request{Account: "x"}, `echo "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified" >&2; exit 1`,
			"Invalid account", "account ="},
	} {
		t.Run(test.name, func(t *testing.T) {
			scripts := all(twoPartitions)
			scripts["sbatch"] = `case "$*" in *--test-only*) ;; *) echo submitted >&2; exit 9;; esac; ` + test.sbatch
			fakes(t, scripts)
			err := CheckRequest(t.Context(), test.request)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(Hint(err), test.hint) {
				t.Errorf("%v (%s), want %s (%s)", err, Hint(err), test.want, test.hint)
			}
		})
	}
}

func TestCheckWithoutSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := CheckRequest(t.Context(), Request{}); err == nil || !strings.Contains(err.Error(), "no sbatch") {
		t.Error(err)
	}
}

// A controller that does not answer is asked again; an error of another kind comes back at once.
func TestCall(t *testing.T) {
	dir := t.TempDir()
	fakes(t, map[string]string{"squeue": `n=$(cat ` + dir + `/n 2>/dev/null || echo 0); echo $((n+1)) >` + dir + `/n
test "$n" -ge 1 && { echo done; exit 0; }
echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1`})
	out, err := CallWithRetries(t.Context(), time.Minute, "squeue")
	if err != nil || out != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
	fakes(t, map[string]string{"squeue": `echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1`})
	_, err = CallWithRetries(t.Context(), time.Minute, "squeue")
	var failed *slurmcmd.Error
	if !errors.As(err, &failed) || failed.Code != 1 || !strings.Contains(failed.Text, "Invalid job id") ||
		ControllerAway(err) {
		t.Errorf("%v", err)
	}
}

// The jobs of an allocation in which tfexp runs do not take its settings for theirs.
func TestEnviron(t *testing.T) {
	t.Setenv("SLURM_CPUS_PER_TASK", "7")
	t.Setenv("SLURM_CONF", "/etc/x")
	env := slurmcmd.Environ()
	if slices.Contains(env, "SLURM_CPUS_PER_TASK=7") || !slices.Contains(env, "SLURM_CONF=/etc/x") {
		t.Error(env)
	}
}

// A node that sees another folder under the same path is noticed, and so is one without tfexp.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		name, srun, program string
		want                error
	}{
		{"shared", `while [ "$1" != /bin/sh ]; do shift; done; exec "$@"`, "/bin/sh", nil},
		{"not shared", `echo program`, "", ErrNotShared},
		{"no program", `while [ "$1" != /bin/sh ]; do shift; done; exec "$@"`, "/nowhere/tfexp", ErrNotShared},
		{"busy", `echo "srun: error: Unable to allocate resources: Requested nodes are busy" >&2; exit 1`, "", ErrBusy},
	} {
		fakes(t, map[string]string{"srun": test.srun})
		err := CheckSharedFolder(context.Background(), Request{}, dir, test.program, time.Second)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An answer of sbatch that is not a number never becomes an argument of scancel or squeue. Neither does text from
// somebody else's note or array.
func TestJobsAreNumbers(t *testing.T) {
	called := filepath.Join(t.TempDir(), "called")
	for _, answer := range []string{"--help", "-5", "0", "", "12 --me", "99999999999999", "a", "+7", "1\n2"} {
		fakes(t, map[string]string{"sbatch": fmt.Sprintf("printf '%%s' '%s'", answer), "scancel": "echo >" + called,
			"squeue": "echo >" + called})
		job, err := BatchSystem{}.Submit(t.Context(), engine.Array{Dir: t.TempDir(), Command: []string{"true"},
			Tasks: []int{0}})
		if err == nil || !strings.Contains(err.Error(), "is not a job number") {
			t.Errorf("%q: job %q, %v", answer, job, err)
		}
		if err := (BatchSystem{}).Cancel(t.Context(), []string{answer}); err != nil {
			t.Error(err)
		}
		if alive, err := (BatchSystem{}).UnfinishedTasks(t.Context(), []string{answer}); err != nil || len(alive) > 0 {
			t.Errorf("%v, %v", alive, err)
		}
	}
	if _, err := os.Stat(called); err == nil {
		t.Error("a command was called for no job")
	}
	fakes(t, map[string]string{"sbatch": "echo '123;cluster'"})
	if job, err := (BatchSystem{}).Submit(t.Context(), engine.Array{Dir: t.TempDir(), Tasks: []int{0},
		Command: []string{"true"}}); job != "123" || err != nil {
		t.Errorf("%q, %v", job, err)
	}
}

// If all nodes are busy, the check of an array says so, and the array may be submitted.
func TestBusyCheck(t *testing.T) {
	fakes(t, map[string]string{"sinfo": "exit 0", "scontrol": "exit 0", "sbatch": "exit 0", "salloc": "exit 0",
		"scancel": "exit 0", "squeue": "exit 0", "srun": `echo "srun: error: Requested nodes are busy" >&2; exit 1`})
	waits, err := BatchSystem{}.Check(t.Context(), engine.Array{Dir: t.TempDir(), Command: []string{"true"}, Threads: 1,
		Args: map[string]string{"partition": "a,b"}})
	if err != nil || !strings.Contains(waits, "no node was free") || !strings.Contains(waits, "Requested nodes are busy") {
		t.Errorf("%q, %v", waits, err)
	}
}

// A command that prints without end is ended, and costs no memory.
func TestOutputIsBounded(t *testing.T) {
	fakes(t, map[string]string{"scontrol": "exec yes"})
	out, err := slurmcmd.Run(t.Context(), 0, "scontrol", "show", "job")
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") || len(out) > folder.MostOutput {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
