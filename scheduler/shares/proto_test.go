package shares

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

type pj struct {
	speed        []float64
	workers      float64
	steps, total float64
	arrival      float64
}

func load(t *testing.T, dir, trace string) []pj {
	f, err := os.Open(dir + "/simulation_throughputs.json.gz")
	if err != nil {
		t.Skip()
	}
	z, _ := gzip.NewReader(f)
	var all map[string]map[string]map[string]any
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(dir + "/" + trace + ".trace")
	var jobs []pj
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		c := strings.Split(line, "\t")
		n := len(c)
		w, _ := strconv.Atoi(c[n-4])
		steps, _ := strconv.ParseFloat(c[n-5], 64)
		arr, _ := strconv.ParseFloat(c[n-1], 64)
		j := pj{workers: float64(w), steps: steps, total: steps, arrival: arr}
		for _, g := range []string{"v100", "p100", "k80"} {
			j.speed = append(j.speed, all[g][fmt.Sprintf("('%s', %d)", c[0], w)]["null"].(float64))
		}
		jobs = append(jobs, j)
	}
	return jobs
}

var minReset = 1920.0
var intSteps = true

func sim(t *testing.T, jobs []pj, kind string, blind bool, shuffle bool, seed uint64) (jct, mk float64) {
	k := Find(kind)
	d := k.New(Options{Blind: blind, Seed: uint32(seed)})
	m := &Mechanism{Round: 360, Idle: k.Idle}
	now := jobs[0].arrival
	next := 0
	last, changed := 0.0, true
	rng := NewChance(5)
	active := []int{}
	done := 0
	for done < len(jobs) {
		for next < len(jobs) && jobs[next].arrival <= now {
			active = append(active, next)
			next++
			changed = true
		}
		if len(active) == 0 {
			now = jobs[next].arrival
			continue
		}
		p := &Problem{Types: []Devices{{"v100", 2, 1}, {"p100", 2, 1}, {"k80", 2, 1}}}
		for _, a := range active {
			j := jobs[a]
			p.Jobs = append(p.Jobs, Job{Number: int32(a), Workers: []float64{j.workers, j.workers, j.workers}, Speed: j.speed, Weight: 1, Left: j.steps, Age: now - j.arrival, Due: math.Inf(1)})
		}
		q := p
		if blind {
			q = p.Blind(0)
		}
		if changed && (last == 0 || now-last >= minReset) {
			x, err := d.Divide(q)
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("SHOW") != "" {
				fmt.Println(now)
				for i := range x {
					fmt.Printf("  %d %.3f\n", p.Jobs[i].Number, x[i])
				}
			}
			m.Divided(p, x, now)
			last, changed = now, false
		}
		order := []int{0, 1, 2}
		if shuffle {
			rng.Shuffle(order)
		}
		picks := m.Pick(p, order)
		end := now
		ends := map[int32]float64{}
		for _, k := range picks {
			j := &jobs[k.Job]
			steps := math.Min(j.speed[k.Type]*360, j.steps)
			if intSteps {
				steps = math.Min(math.Floor(j.speed[k.Type]*360), j.steps)
			}
			ends[k.Job] = now + steps/j.speed[k.Type]
			end = math.Max(end, ends[k.Job])
			j.steps -= steps
			m.Ran(k.Job, k.Type, ends[k.Job]-now)
		}
		if len(picks) == 0 {
			last = 0
			if next >= len(jobs) { changed = true; if end == now { } }
			if next < len(jobs) { end = math.Max(now, jobs[next].arrival) }
		}
		var rest []int
		for _, a := range active {
			if jobs[a].steps <= 1e-9 {
				jct += ends[int32(a)] - jobs[a].arrival
				mk = math.Max(mk, ends[int32(a)])
				m.Ended(int32(a))
				done++
				changed = true
				continue
			}
			rest = append(rest, a)
		}
		active = rest
		now = end
	}
	return jct / float64(len(jobs)), mk
}

func TestProto(t *testing.T) {
	dir := os.Getenv("TFEXP_DATA") + "/gavel"
	names := map[string]string{"fifo": "fifo", "max_min_fairness": "max_min", "finish_time_fairness": "finish_time_fairness", "min_total_duration": "makespan", "isolated": "isolated", "max_sum_throughput": "max_throughput"}
	text, _ := os.ReadFile(dir + "/expected.csv")
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		c := strings.Split(line, ",")
		name, perf := strings.CutSuffix(c[1], "_perf")
		wj, _ := strconv.ParseFloat(c[7], 64)
		wm, _ := strconv.ParseFloat(c[8], 64)
		reps := 1
		if !perf {
			reps = 1
		if c[1]=="fifo" {reps=30}
}
		for r := range reps {
			jct, mk := sim(t, load(t, dir, c[0]), names[name], !perf, !perf, uint64(r))
			fmt.Printf("%-20s %-28s %10.3f %10.3f | %10.3f %10.3f | %+.2f%% %+.2f%%\n", c[0], c[1], wj, wm, jct, mk, 100*(jct/wj-1), 100*(mk/wm-1))
		}
	}
}
