//go:build unix

package external

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// raw is a program without the library. hear and say read and write a line; greet exchanges the first lines.
const raw = `
import json, os, signal, sys, time
def hear():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def say(x):
    sys.stdout.write((x if isinstance(x, str) else json.dumps(x)) + "\n"); sys.stdout.flush()
def greet(**more):
    hear(); say({"type": "ready", "protocol": 1, **more})
def do(*decisions, **more):
    hear(); say({"do": list(decisions), **more})
def fine():
    waiting = []
    while True:
        m = hear()
        if m["type"] == "end":
            return
        waiting += [e["job"] for e in m["events"] if e["event"] == "arrive"]
        say({"do": [{"start": j} for j in waiting]}); waiting = []
`

// TestMisbehaviour has programs that break the rules. The cell must fail with a message that names the policy and the
// error and, if there are any, the job and the rule.
func TestMisbehaviour(t *testing.T) {
	python := python3(t)
	for _, test := range []struct {
		name, code, want string
		lacks            scheduler.Capabilities
	}{
		{name: "ends at once", code: ``, want: "it ended before it answered: exit status 0"},
		{name: "fails at once", code: `sys.exit("no such table")`,
			want: "it ended before it answered: exit status 1; its last lines:\n  │ no such table"},
		{name: "greets in no JSON", code: `hear(); say("hello")`, want: `its answer "hello" is not one of the protocol`},
		{name: "greets with an answer", code: `hear(); say({"type": "answer"})`, want: `but must be {"type":"ready","protocol":1}`},
		{name: "speaks another version", code: `hear(); say({"type": "ready", "protocol": 9})`, want: "it uses version 9"},
		{name: "greets with an unknown field", code: `greet(color="red")`, want: `unknown field "color"`},
		{name: "asks for a strange moment", code: `greet(ask="often")`, want: `ask = "often", but ask must be "always" or "waiting"`},
		{name: "hangs when greeted", code: `hear(); time.sleep(100)`, want: "it did not answer within 2s"},
		{name: "crashes", code: `greet(); hear(); 1 / 0`, want: "ZeroDivisionError"},
		{name: "is killed", code: `greet(); hear(); os.kill(os.getpid(), signal.SIGKILL)`, want: "killed by signal 9"},
		{name: "hangs", code: `greet(); hear(); time.sleep(100)`, want: "it did not answer within 2s (the policy's argument limit)"},
		{name: "closes its output", code: `greet(); hear(); os.close(1); time.sleep(100)`, want: "it closed its standard output"},
		{name: "answers in no JSON", code: `greet(); hear(); say("{'do': []}")`, want: "is not one of the protocol: invalid"},
		{name: "answers twice in a line", code: `greet(); hear(); say("{} {}")`, want: "the line has more than one JSON value"},
		{name: "answers in two lines", code: `greet(); hear(); say("{}\n{}"); fine()`, want: "it printed more than one line"},
		{name: "answers a list", code: `greet(); hear(); say([])`, want: "cannot unmarshal array"},
		{name: "prints", code: `greet(); hear(); print("deciding now"); say({})`,
			want: "standard output must contain only messages of the protocol"},
		{name: "answers no text", code: `greet(); hear(); sys.stdout.buffer.write(b"\xff\xfe\n"); sys.stdout.flush(); fine()`,
			want: `its answer "\xff\xfe" is not`},
		{name: "answers an unknown field", code: `greet(); hear(); say({"start": "a"})`, want: `unknown field "start"`},
		{name: "answers a wrong type", code: `greet(); do({"start": "a", "cores": "two"})`, want: "cannot unmarshal string"},
		{name: "answers something else", code: `greet(); hear(); say({"type": "bye"})`, want: `the type "bye"`},
		{name: "answers without end", code: `greet(); hear()
while True: sys.stdout.write("x" * 65536)`, want: "its answer is longer than 16 MiB"},
		{name: "names no job", code: `greet(); do({"cores": 2})`, want: "a decision names no job"},
		{name: "decides two things at once", code: `greet(); do({"start": "a", "pause": "b"})`,
			want: `both start of "a" and pause of "b"`},
		{name: "starts an unknown job", code: `greet(); do({"start": "z"})`, want: `start of job "z": there is no such job`},
		{name: "starts a job that has not arrived", code: `greet(); do({"start": "late"})`,
			want: `start of job "late": the job has not arrived: only waiting jobs can start`},
		{name: "starts a job twice", code: `greet(); do({"start": "a"}, {"start": "a"})`,
			want: `start of job "a": the job is running: only waiting jobs can start`},
		{name: "starts a job that is over", code: `greet(); do({"start": "a"})
while not any(e["event"] == "end" for e in hear()["events"]): say({})
say({"do": [{"start": "a"}]})`, want: `start of job "a": the job is finished: only waiting jobs can start`},
		{name: "starts without room", code: `greet(); do({"start": "a"}, {"start": "b"})`,
			want: `start of job "b": there is no room: the job needs 3 cores, 2 are free`},
		{name: "starts on an unknown node", code: `greet(); do({"start": "a", "nodes": ["m"]})`,
			want: `start of job "a": there is no node "m"`},
		{name: "starts on too many nodes", code: `greet(); do({"start": "a", "nodes": ["n", "n"]})`,
			want: "the job must have 1 nodes, not 2"},
		{name: "starts on a full node", code: `greet(); do({"start": "a", "nodes": ["n"]}, {"start": "b", "nodes": ["n"]})`,
			want: `start of job "b": there is no room on n: the job needs 3 cores, 2 are free`},
		{name: "starts on cores that are not there", code: `greet(); do({"start": "a", "on": "3-4"})`,
			want: "there is no core 4: the cluster has cores 0 to 3"},
		{name: "starts on busy cores", code: `greet(); do({"start": "a", "on": "0-1"}, {"start": "b", "on": "1-3"})`,
			want: `start of job "b": the cores "1-3" must all be free`},
		{name: "starts on too few cores", code: `greet(); do({"start": "a", "on": "0"})`, want: `on must name 2 cores, but "0" has 1`},
		{name: "starts on nonsense", code: `greet(); do({"start": "a", "on": "x"})`, want: `on "x"`},
		{name: "starts on a billion cores", code: `greet(); do({"start": "a", "on": "0-2147483646"})`,
			want: "there is no core 2147483646: the cluster has cores 0 to 3"},
		{name: "starts on a core a million times", code: `greet(); do({"start": "a", "on": "0," * 1000000 + "0"})`,
			want: `start of job "a": on "0,0,`},
		{name: "starts a job with a name of megabytes", code: `greet(); do({"start": "z" * 3000000})`, want: `start of job "zzz`},
		{name: "answers a version of many digits", code: `hear(); say('{"type":"ready","protocol":' + "9" * 1000000 + "}")`,
			want: "is not one of the protocol"},
		{name: "gives a reason of megabytes", code: `greet()
while hear()["type"] != "end": say({"waits": {"a": "w" * 3000000}})`, want: `job "a" www`},
		{name: "complains in one line of megabytes", code: `greet(); sys.exit("e" * 3000000)`, want: "\n  │ eee"},
		{name: "starts with an unknown alternative", code: `greet(); do({"start": "a", "alternative": "gpu"})`,
			want: `the job has no alternative "gpu"`},
		{name: "sizes without saying so", code: `greet(); do({"start": "a", "cores": 1})`, want: `must say "sizes": true`},
		{name: "sizes out of bounds", code: `greet(sizes=True); do({"start": "a", "cores": 4})`,
			want: `start of job "a": the job must have 1 to 2 cores, not 4`},
		{name: "pauses a job that waits", code: `greet(); do({"pause": "a"})`,
			want: `pause of job "a": the job is queued: only running jobs can be paused`},
		{name: "pauses where that is impossible", code: `greet(); do({"start": "a"}, {"pause": "a"})`,
			lacks: scheduler.Capabilities{Pause: true}, want: "the engine cannot pause jobs"},
		{name: "resumes a job that was not paused", code: `greet(); do({"resume": "a"})`,
			want: `resume of job "a": the job is queued: only paused jobs can resume`},
		{name: "resizes without saying so", code: `greet(); do({"start": "m"}, {"resize": "m", "cores": 2})`,
			want: `resize of job "m": a program that sizes jobs must say`},
		{name: "resizes a rigid job", code: `greet(sizes=True); do({"start": "a"}, {"resize": "a", "cores": 1})`,
			want: `resize of job "a": the job is rigid`},
		{name: "resizes where that is impossible",
			code:  `greet(sizes=True); do({"start": "m"}, {"resize": "m", "cores": 2})`,
			lacks: scheduler.Capabilities{Resize: true}, want: "the engine cannot resize jobs"},
		{name: "resizes without a size", code: `greet(sizes=True); do({"start": "m"}, {"resize": "m"})`,
			want: "the decision must have a number of cores"},
		{name: "resizes without room",
			code: `greet(sizes=True); do({"start": "m"}, {"start": "b"}, {"resize": "m", "cores": 2})`,
			want: `resize of job "m": there is no room: the job needs 1 cores more on its node, 0 are free`},
		{name: "migrates to nowhere", code: `greet(); do({"start": "a"}, {"migrate": "a"})`, want: "must name nodes"},
		{name: "migrates where that is impossible", code: `greet(); do({"start": "a"}, {"migrate": "a", "nodes": ["n"]})`,
			lacks: scheduler.Capabilities{Migrate: true}, want: "the engine cannot migrate jobs"},
		{name: "wants to be called before now", code: `greet(); do(call_at_ns=0)`, want: "call_at_ns is 0, but must be later"},
		{name: "gives a reason for an unknown job", code: `greet(); do(waits={"z": "why not"})`, want: `waits: there is no job "z"`},
		{name: "starts nothing", code: `greet()
while hear()["type"] != "end": say({"waits": {"a": "it is Monday"}})
say({})`, want: "the remaining jobs can never start: job \"a\" it is Monday"},
		{name: "goes round in an instant", code: `greet(); do({"start": "a"}, {"pause": "a"})
while True: do({"resume": "a"}, {"pause": "a"})`, want: "does not end"},
		{name: "asks again and again", code: `greet(); m = hear()
say({"do": [{"start": "a"}], "call_at_ns": 1})
for n in range(2, 10**9): hear(); say({"call_at_ns": n})`,
			want: "it has asked 10000 times to be called again (call_at_ns), and changed nothing"},
		{name: "ends badly", code: `greet(); fine(); say({}); sys.exit("it was all in vain")`,
			want: "at the end of the cell: it did not exit as it should: exit status 1; its last lines:\n  │ it was all in vain"},
		{name: "says goodbye wrongly", code: `greet(); fine(); say("bye")`, want: `at the end of the cell: its answer "bye"`},
		{name: "does not go", code: `greet(); fine(); say({}); time.sleep(100)`, want: "it did not exit as it should: killed by signal 9"},
		{name: "is another every time", code: `greet(name=str(time.time_ns())); fine(); say({})`,
			want: "answers differently to the same events: message 1 had the answer"},
		{name: "complains without end", code: `greet()
for i in range(20000): print("warning", i, file=sys.stderr)
fine(); say({}); sys.exit("enough")`, want: "│ warning 19999\n  │ enough"},
		{name: "leaves processes behind", code: `greet()
if os.fork() == 0:
    os.setsid(); time.sleep(1000)
fine(); say({})`, want: ""},
		{name: "behaves", code: `greet(); fine(); say({})`, want: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "program.py")
			if err := os.WriteFile(file, []byte(raw+test.code), 0o600); err != nil {
				t.Fatal(err)
			}
			l := lot{cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 4}}}, jobs: []scheduler.Job{
				{Number: 0, Name: "a", Threads: 2, Predicted: time.Second}, {Number: 1, Name: "b", Threads: 3, Arrival: 5 * time.Second},
				{Number: 2, Name: "m", Threads: 1, MaxThreads: 4, Malleable: true, Arrival: 10 * time.Second},
				{Number: 3, Name: "late", Threads: 1, Arrival: 20 * time.Second},
			}}
			if strings.Contains(test.want, `"b"`) || strings.Contains(test.want, `"m"`) || strings.Contains(test.code, `"m"`) {
				for i := range 3 {
					l.jobs[i].Arrival = 0 // all jobs arrive together
				}
			}
			for _, j := range l.jobs {
				l.work = append(l.work, simulated.FullRequest(time.Second, j.Threads))
			}
			limit := time.Minute
			// The program has waited that long.
			if strings.Contains(test.code, "sleep(100)") && !strings.Contains(test.want, "closed") {
				limit = 2 * time.Second
			}
			c := task(t.TempDir(), "", policy.Settings{"limit": limit}, python, file)
			by := c.Decider(t.Context())
			on, err := simulated.New(l.jobs, l.work, simulated.Options{Cluster: l.cluster, Lacks: test.lacks})
			if err != nil {
				t.Fatal(err)
			}
			_, err = scheduler.Run{Policy: by, Cluster: l.cluster, Jobs: l.jobs, Engine: on}.Execute(t.Context())
			var out record.Cell
			if err != nil {
				out.Error = err.Error()
			}
			by.Close(&out)
			said := out.Error
			for _, w := range out.Warnings {
				said += w.Text
			}
			if len(said) > maxMessage+1000 {
				t.Errorf("it says %d bytes: %.300s", len(said), said)
			}
			if !strings.Contains(said, test.want) || test.want == "" && said != "" {
				t.Errorf("it says\n%s\nwant\n%s", said, test.want)
			}
			if text, _ := exec.Command("pgrep", "-f", file).Output(); len(text) > 0 {
				t.Errorf("processes are left: %s", text)
			}
		})
	}
	t.Run("is not there", func(t *testing.T) {
		c := task("", "", nil, "no_such_program")
		_, err := c.Decider(t.Context()).Rules(scheduler.Run{})
		if want := `policy "mine": program "no_such_program" not found`; fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}
