package start

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	_ "github.com/tfexp/tfexp/scheduler/workload/formats/clusters"
)

// inspect inspects a log with the given name and text.
func inspect(t *testing.T, name, text string) (JobLog, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return InspectLog(path, name)
}

func TestInspect(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		arguments  string
		cluster    Cluster
		unit       time.Duration
		requested  bool
	}{
		"dates and semicolons": {
			"jobs.csv", "Job ID;Owner;Submitted;Started;Finished;CPUs;Walltime limit;Exit\n" +
				"7;ada;03.10.2017 08:00:00;03.10.2017 08:10:00;03.10.2017 09:10:00;8;0-02:00:00;0\n" +
				"8;bob;03.10.2017 08:05:00;03.10.2017 08:10:00;;8;0-02:00:00;0\n",
			`file = "jobs.csv" | format = "table" | separator = ";" | columns = { | arrival = "Submitted" | ` +
				`start = "Started" | end = "Finished" | requested_time = "Walltime limit" | threads = "CPUs" | ` +
				`job = "Job ID" | user = "Owner" | }`,
			Cluster{Cores: 16}, 0, true, // the other job has not ended
		},
		"minutes, and a run time beside start and end": {
			"jobs.tsv", "submit_time_min\tstart_min\tend_min\tdurationMin\tnum_gpus\n0\t1\t99\t60\t4\n30\t31\t99\t30\t2\n",
			`file = "jobs.tsv" | format = "table" | separator = "\t" | unit = "1m0s" | columns = { | ` +
				`arrival = "submit_time_min" | run_time = "durationMin" | start = "start_min" | gpus = "num_gpus" | }`,
			// From 31 to 61 min 6 GPUs are in use, on nodes of 4.
			Cluster{Nodes: 2, Threads: 4, GPUs: 4}, time.Minute, false,
		},
		"titles": {
			"jobs.csv", "Our cluster\r\n\r\nSubmitted,Elapsed,Cores\r\n0,60,2\r\n",
			`file = "jobs.csv" | format = "table" | columns = { | arrival = "Submitted" | run_time = "Elapsed" | ` +
				`threads = "Cores" | }`, Cluster{Cores: 3}, 0, false,
		},
		"pods with parts of cores and GPUs": {
			"pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time," +
				"scheduled_time\na,11900,1024,1,230,,BE,Running,200000100,200000900,200000110\n" +
				"b,64000,262144,8,1000,T4|P100,LS,Failed,200000200,200000800,200000200\n" +
				"c,1000,1024,0,0,,LS,Pending,200000300,200000400,\n",
			`file = "pods.csv" | format = "openb"`, Cluster{Nodes: 2, Threads: 64, GPUs: 8}, 0, false,
		},
		"limits in hours beside instants": {
			"jobs.csv", "submit_time,run_time,time_limit_h,cpus\n1709251502,3600,2,4\n1709251503,3600,2,4\n",
			`file = "jobs.csv" | format = "table" | requested_unit = "1h0m0s" | columns = { | arrival = "submit_time" | ` +
				`run_time = "run_time" | requested_time = "time_limit_h" | threads = "cpus" | }`, Cluster{Cores: 10}, 0, true,
		},
		"limits in minutes": {
			"jobs.csv", "submit,duration,limit,cpus\n0,1800,60,4\n5,3600,120,4\n9,30,10,4\n",
			`file = "jobs.csv" | format = "table" | requested_unit = "1m0s" | columns = { | arrival = "submit" | ` +
				`run_time = "duration" | requested_time = "limit" | threads = "cpus" | }`, Cluster{Cores: 8}, 0, true,
		},
		"limits that most jobs exceed in any unit": {
			"jobs.csv", "submit,duration,limit,cpus\n0,360000,1,4\n5,360000,1,4\n9,30,10,4\n",
			`file = "jobs.csv" | format = "table" | columns = { | arrival = "submit" | ` +
				`run_time = "duration" | requested_time = "limit" | threads = "cpus" | }`, Cluster{Cores: 11}, 0, true,
		},
		"limits that few jobs exceed": {
			"jobs.csv", "submit,duration,limit,cpus\n0,100,60,4\n5,40,60,4\n9,30,60,4\n",
			`file = "jobs.csv" | format = "table" | columns = { | arrival = "submit" | ` +
				`run_time = "duration" | requested_time = "limit" | threads = "cpus" | }`, Cluster{Cores: 9}, 0, true,
		},
		"memory": {
			"jobs.csv", "submit,duration,mem_gb,max_mem_gb,cpus\n0,60,8,2,4\n",
			`file = "jobs.csv" | format = "table" | memory_unit = "1GB" | columns = { | arrival = "submit" | run_time = "duration" | ` +
				`threads = "cpus" | memory = "mem_gb" | memory_used = "max_mem_gb" | }`, Cluster{Cores: 5}, 0, false,
		},
		"memory in two units": {
			"jobs.csv", "submit,duration,mem_gb,maxrss_kb,cpus\n0,60,8,2,4\n",
			`file = "jobs.csv" | format = "table" | columns = { | arrival = "submit" | run_time = "duration" | ` +
				`threads = "cpus" | }`, Cluster{Cores: 5}, 0, false,
		},
		"sacct": {
			"dump.txt", "JobID|Submit|Start|End|TimelimitRaw|ReqCPUS|AllocTRES|NNodes\n" +
				"1|2024-03-04T08:00:00|2024-03-04T08:00:00|2024-03-04T09:00:00|90|16|cpu=16,gres/gpu=16|2\n",
			`file = "dump.txt" | format = "sacct"`, Cluster{Nodes: 2, Threads: 8, GPUs: 8}, 0, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := inspect(t, c.file, c.text)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(strings.Fields(strings.Join(l.arguments(), " | ")), " ")
			if got != c.arguments {
				t.Errorf("arguments\n%s, want\n%s", got, c.arguments)
			}
			if l.Cluster != c.cluster || l.Unit != c.unit || l.Requested != c.requested {
				t.Errorf("cluster %+v, unit %v, requested %v; want %+v, %v, %v", l.Cluster, l.Unit, l.Requested, c.cluster,
					c.unit, c.requested)
			}
		})
	}
}

// A log that cannot be replayed is reported, not guessed.
func TestInspectFails(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"no arrivals":  {"a.csv", "colour,weight\nred,3\n", "no column has the arrivals"},
		"no run times": {"a.csv", "submitted,cpus\n0,3\n", "does not say how long"},
		"no jobs":      {"a.csv", "submitted,duration\nx,3\n", "no job in a.csv"},
		"empty":        {"a.csv", "", "empty"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := inspect(t, c.file, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// An impossible size in a log is ignored.
func TestImpossibleSizes(t *testing.T) {
	const job = " 0 0 10 4 -1 -1 4 10 -1 1 1 1 -1 1 -1 -1 -1\n"
	for text, said := range map[string]bool{
		"; MaxProcs: 4000000000000000000\n1" + job: false, // more processors than any cluster has
		"; MaxProcs: 1048576\n1" + job:             false, // the experiment also simulates a larger cluster
		"; MaxProcs: 3\n1" + job:                   false, // the job asks for 4
		"; MaxProcs: 64\n1" + job:                  true,
	} {
		l, err := inspect(t, "a.swf", text)
		if err != nil || l.Said != said || (l.Cluster.Cores == 64) != said || (l.Unbelieved > 0) == said {
			t.Errorf("%q: %+v, %v", text, l.Cluster, err)
		}
	}
	nodes := "submitted,duration,nodes,cpus\n" + strings.Repeat("0,3600,90000,90000\n", 2)
	if _, err := inspect(t, "a.csv", nodes); err == nil || !strings.Contains(err.Error(), "a cluster can have") {
		t.Error(err)
	}
}

func TestMeaning(t *testing.T) {
	for column, want := range map[string]string{
		"Submit Time (s)": "arrival 1s", "submitTime": "arrival 0s", "elapsed_h": "run_time 1h0m0s", "gpu_num": "gpus 0s",
		"USER": "user 0s", "cpus_s": "", "walltime": "requested_time 0s", "notes": "", "mem_gb": "memory 0s",
		"MaxRSS": "memory_used 0s", "mem_s": "", "peak memory (GiB)": "memory_used 0s",
	} {
		got := ""
		if f, unit := propertyOf(column); f != nil {
			got = f.name + " " + unit.String()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", column, got, want)
		}
	}
}

// If no column has the size of jobs, this is said.
func TestNoSizes(t *testing.T) {
	const want = "No column has the cores of jobs: each gets one."
	for text, says := range map[string]bool{"submit,duration,width\n0,10,1\n5,20,2\n": true, "submit,duration,cpus\n0,10,1\n5,20,2\n": false,
		"submit,duration,gpus\n0,10,1\n5,20,2\n": false} {
		l, err := inspect(t, "a.csv", text)
		if err != nil || strings.Contains(strings.Join(l.OpenQuestions(), "\n"), want) != says {
			t.Errorf("%q: %q, %v", text, l.OpenQuestions(), err)
		}
	}
}

// Names of a file and its columns are not parsed as parts of the language, and no name can end a comment.
func TestNamesOfLogs(t *testing.T) {
	l, err := inspect(t, "log${b}.csv", "submit,duration ${},cp\x1bus,odd\x1b\n0,10,1,1\n5,20,2,1\n")
	if err != nil {
		t.Fatal(err)
	}
	source, err := l.Experiment("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, diags := hclsyntax.ParseConfig(source, "x.hcl", hcl.InitialPos); diags.HasErrors() {
		t.Error(diags)
	}
	for _, want := range []string{`"log$${b}.csv"`, `"duration $${}"`, "odd?"} {
		if !strings.Contains(string(source), want) {
			t.Errorf("no %s in\n%s", want, source)
		}
	}
	l.File = "a\nb.csv"
	if _, err := l.Experiment("x"); err == nil {
		t.Error("a name of two lines stands in a comment")
	}
}
