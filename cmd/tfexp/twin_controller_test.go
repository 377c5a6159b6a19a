package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages/batch"
)

// sacctFields are the columns of the accounting that a recording has.
const sacctFields = "JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,TimelimitRaw,ReqCPUS,ReqNodes,ReqMem," +
	"AllocCPUS,NNodes,ReqTRES,State,NodeList,Constraints,Priority,SubmitLine"

// submitted is a job that is submitted for a recording.
type submitted struct {
	at    time.Duration
	args  []string
	sleep int
}

// seed is the seed of recordings.
const seed = 7

// drawn returns random jobs for a recording of a configuration.
func drawn(config string, jobs int, seed uint64) []submitted {
	r := rand.New(rand.NewPCG(seed, uint64(len(config))))
	accounts := map[string]string{"games": "physics", "news": "physics", "mail": "biology", "backup": "biology",
		"irc": "chemistry"}
	users := []string{"games", "games", "games", "news", "mail", "mail", "backup", "irc"}
	var list []submitted
	at := time.Duration(0)
	for range jobs {
		at += time.Duration(r.ExpFloat64() * 1.15 * float64(time.Second))
		sleep := 2 + r.IntN(39)
		limit := 1 + r.IntN(4)
		cores := []int{1, 2, 4, 8, 12, 16, 16, 24, 32, 48, 64, 100}[r.IntN(12)]
		if config == "overlap" || config == "safe" || config == "exclusive" { // an account, and a partition, may have no more
			cores = min(cores, 64)
		}
		var needs []string
		switch config {
		case "memory":
			cores, needs = drawnMemory(r, cores)
		case "gpus":
			cores, needs = drawnGPUs(r, cores)
		}
		user := users[r.IntN(len(users))]
		args := []string{"--uid=" + user, "--account=" + accounts[user], "-n", strconv.Itoa(cores)}
		args = append(args, needs...)
		if cores >= 16 && r.IntN(4) == 0 && needs == nil {
			args = append(args, "-N", strconv.Itoa((cores+15)/16))
		}
		switch config {
		case "preempt":
			qos := []string{"low", "low", "low", "normal", "normal", "high"}[r.IntN(6)]
			args = append(args, "--qos="+qos)
			if r.IntN(2) == 0 {
				args = append(args, "--requeue")
			}
		case "overlap":
			if r.IntN(2) == 0 {
				limit = 1 + r.IntN(2)
				args = append(args, "--partition=short")
			}
		}
		if config == "exclusive" { // exclusive by its partition, by its own request, or not at all
			args = append(args, [][]string{{"--partition=whole"}, {"--exclusive"}, nil, nil}[r.IntN(4)]...)
		}
		args = append(args, "-t", fmt.Sprint(limit))
		list = append(list, submitted{at: at, sleep: sleep, args: args})
	}
	return list
}

// drawnMemory returns a random memory of a job on nodes with 1,000 MB per core, and limits its cores. Some jobs have
// the default memory.
func drawnMemory(r *rand.Rand, cores int) (int, []string) {
	switch r.IntN(3) {
	case 0:
		mb := []int{250, 500, 1000, 2000, 4000}[r.IntN(5)]
		if mb > 1000 {
			cores = min(cores, 32)
		}
		return cores, []string{fmt.Sprintf("--mem-per-cpu=%d", mb)}
	case 1:
		nodes := (cores + 15) / 16
		return cores, []string{"-N", strconv.Itoa(nodes), fmt.Sprintf("--mem=%d", []int{1000, 4000, 8000, 12000}[r.IntN(4)])}
	default:
		return cores, nil
	}
}

// drawnGPUs returns a random number of GPUs of a job, with their type, and limits its cores. A quarter of the jobs have
// no GPUs.
func drawnGPUs(r *rand.Rand, cores int) (int, []string) {
	kind, each := r.IntN(9), []int{1, 2, 4}[r.IntN(3)]
	gpus := []int{1, 1, 2, 4}[r.IntN(4)]
	switch {
	case kind < 2:
		return cores, nil
	case kind < 5:
		return gpus * each, []string{"-N", "1", fmt.Sprintf("--gres=gpu:a100:%d", gpus)}
	case kind < 7:
		gpus = min(gpus, 2)
		return gpus * each, []string{"-N", "1", fmt.Sprintf("--gres=gpu:v100:%d", gpus)}
	case kind < 8:
		return gpus * each, []string{"-N", "1", fmt.Sprintf("--gres=gpu:%d", gpus)}
	default:
		return 8 * each, []string{"-N", "2", "--gres=gpu:a100:4"}
	}
}

// slurmClient runs a client of Slurm, and returns its output.
func slurmClient(t *testing.T, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// recordController starts the controller of a configuration, submits jobs, and stops the controller. It stores the
// output in a folder: slurm.conf, sacctmgr.txt, qos.txt, sacct.txt and slurmctld.log, and sprio and sshare at several
// instants.
func recordController(t *testing.T, config string, jobs int, seed uint64, dir string) {
	t.Helper()
	script, err := filepath.Abs("../../.ci/twin")
	if err != nil {
		t.Fatal(err)
	}
	out := slurmClient(t, script, "start", config)
	t.Cleanup(func() { slurmClient(t, script, "stop") })
	conf := strings.TrimPrefix(strings.TrimSpace(out), "export SLURM_CONF=")
	t.Setenv("SLURM_CONF", conf)
	keep := func(name, text string) {
		if err := folder.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	keep("slurm.conf", string(text))
	keep("sacctmgr.txt", slurmClient(t, "sacctmgr", "-P", "show", "assoc"))
	keep("qos.txt", slurmClient(t, "sacctmgr", "-P", "show", "qos"))
	began := time.Now()
	var shots, instants strings.Builder
	next := 20 * time.Second
	shot := func() {
		next += 20 * time.Second
		print := func(name string, args ...string) {
			at := float64(time.Now().UnixMilli()) / 1e3
			fmt.Fprintf(&shots, "== %s %.3f\n%s", name, at, slurmClient(t, name, args...))
		}
		if config != "plain" {
			print("sprio", "-h", "-o", "%i|%Y|%A|%F|%J|%P|%Q|%N|%T")
		}
		print("sshare", "-a", "-l", "-P")
		print("squeue", "-h", "-o", "%i|%T|%r|%S|%Q")
	}
	for _, j := range drawn(config, jobs, seed) {
		for time.Since(began) < j.at {
			if time.Since(began) > next {
				shot()
			}
			time.Sleep(min(j.at-time.Since(began), 200*time.Millisecond))
		}
		id := slurmClient(t, "sbatch", append(append([]string{"--parsable", "-D", "/tmp", "-o", "/dev/null"}, j.args...),
			"--wrap", fmt.Sprintf("sleep %d", j.sleep))...)
		fmt.Fprintf(&instants, "%s|%.3f\n", strings.TrimSpace(id), float64(time.Now().UnixMilli())/1e3)
	}
	keep("submitted.txt", instants.String())
	keep("config.txt", slurmClient(t, "scontrol", "show", "config"))
	for strings.TrimSpace(slurmClient(t, "squeue", "-h")) != "" {
		if time.Since(began) > next {
			shot()
		}
		time.Sleep(time.Second)
	}
	time.Sleep(6 * time.Second) // until the accounting has the ends of the last jobs
	keep("instants.txt", shots.String())
	history, err := os.ReadFile(filepath.Join(filepath.Dir(conf), "slurmctld.log"))
	if err != nil {
		t.Fatal(err)
	}
	keep("slurmctld.log", string(history))
	keep("times.txt", exactTimes(t, string(history)))
	keep("sacct.txt", slurmClient(t, "sacct", "-a", "-X", "-D", "-P", "-o", sacctFields, "-S", began.Add(-time.Hour).Format("2006-01-02T15:04:05")))
}

// exactTimes returns times from a controller's log that the accounting has only in seconds, or not at all: when jobs
// arrived, started and ended, when their nodes were released, and when the queue was checked.
func exactTimes(t *testing.T, log string) string {
	t.Helper()
	var b strings.Builder
	line := regexp.MustCompile(`^\[(\S+)\] (?:(sched: Allocate|sched/backfill: _start_job: Started|_job_complete:|preempted|` +
		`_slurm_rpc_submit_batch_job:) JobId=(\d+)(?: (WEX)|.* NodeList=(\S+)|.* on (\S+))?|(sched/backfill: _attempt_backfill: beginning|debug:  priority/multifactor: init)|` +
		`debug:  sched: Running job scheduler for (full queue|default depth)|debug2: Tree head got back (\d+)$|debug2: _slurm_rpc_epilog_complete: JobId=(\d+) Node=)`)
	kinds := map[string]string{"_job_complete:": "end", "preempted": "end", "_slurm_rpc_submit_batch_job:": "submit",
		"sched: Allocate": "start", "sched/backfill: _start_job: Started": "start", "full queue": "all", "debug:  priority/multifactor: init": "began", "default depth": "look"}
	on := map[string][]string{} // nodes by job
	type ended struct {
		job   string
		at    time.Time
		nodes int
	}
	var endings []ended
	stopped := map[string]*ended{} // by job
	for l := range strings.SplitSeq(log, "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil || m[4] != "" {
			continue
		}
		at, err := time.ParseInLocation("2006-01-02T15:04:05.000", m[1], time.Local)
		if err != nil {
			continue
		}
		if m[10] != "" { // a node says that nothing is left of a job that was made to end
			if e := stopped[m[10]]; e != nil {
				if e.nodes--; e.nodes == 0 {
					fmt.Fprintf(&b, "release|%s|%.3f\n", e.job, at.Sub(e.at).Seconds())
					delete(stopped, e.job)
				}
			}
			continue
		}
		if n := m[9]; n != "" { // all nodes of a job have answered that nothing is left of it
			if i := slices.IndexFunc(endings, func(e ended) bool { return strconv.Itoa(e.nodes) == n }); i >= 0 {
				fmt.Fprintf(&b, "release|%s|%.3f\n", endings[i].job, at.Sub(endings[i].at).Seconds())
				endings = slices.Delete(endings, i, i+1)
			}
			continue
		}
		what, job := cmp.Or(kinds[m[2]], kinds[m[7]], kinds[m[8]], "backfill"), m[3]
		if what == "start" {
			if on[job], err = batch.Hosts(m[5] + m[6]); err != nil {
				t.Fatal(err)
			}
		}
		switch m[2] {
		case "_job_complete:":
			endings = append(endings, ended{job, at, len(on[job])})
		case "preempted":
			stopped[job] = &ended{job, at, len(on[job])}
		}
		fmt.Fprintf(&b, "%s|%s|%.3f\n", what, job, float64(at.UnixMilli())/1e3)
	}
	return b.String()
}

// TestTwinAgainstController starts a controller in each configuration that TFEXP_TWIN names ("ages,overlap"; or
// "plain:300" for 300 jobs), submits short jobs to it, and compares the recorded schedule with the twin's. Without
// TFEXP_TWIN it runs a short one where TFEXP_REQUIRE asks for a controller, and none elsewhere. TFEXP_TWIN_KEEP
// is a folder that keeps the recordings.
func TestTwinAgainstController(t *testing.T) {
	what := os.Getenv("TFEXP_TWIN")
	if what == "" {
		if !slices.Contains(strings.Split(os.Getenv(need.EnvRequire), ","), "twin") {
			t.Skip("a controller takes minutes: TFEXP_REQUIRE=twin, or TFEXP_TWIN=plain,ages,fairshare,preempt,overlap")
		}
		what = "ages:30"
	}
	if os.Geteuid() != 0 {
		need.This(t, "twin", errors.New("the controller needs root"), ".ci/twin start plain")
	}
	keep := os.Getenv("TFEXP_TWIN_KEEP")
	if keep == "" {
		keep = t.TempDir()
	}
	// All are recorded first: a run of tfexp becomes the parent of what jobs leave, and does not wait for it.
	var dirs []string
	for one := range strings.SplitSeq(what, ",") {
		config, count, _ := strings.Cut(one, ":")
		jobs, err := strconv.Atoi(count)
		if err != nil {
			jobs = 60
		}
		dir := filepath.Join(keep, config)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Run("record "+config, func(t *testing.T) { recordController(t, config, jobs, seed, dir) })
		dirs = append(dirs, dir)
	}
	if t.Failed() {
		return
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) { againstRecording(t, dir) })
	}
}
