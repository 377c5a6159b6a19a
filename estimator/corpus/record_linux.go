package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == burnCommand {
		burn(os.Args[2])
		return
	}
	seconds := flag.Float64("seconds", 50, "stop after the block that ends later than this")
	tfexp := flag.String("tfexp", "tfexp", "the tfexp that has the built-in programs")
	python := flag.String("python", "python3", "a Python with numpy and PyTorch")
	scripts := flag.String("programs", "estimator/corpus/programs.py", "the programs in Python")
	fill := flag.String("fill", "", "a program that keeps a core busy without slowing the other thread of the core; it "+
		"fills the cores at the lowest priority, so that programs at a lower one do not run")
	only := flag.String("only", "", "the programs, separated by commas, under the load shared alone: whatever else runs")
	times := flag.Int("times", 1, "how many times as long runs and samples are")
	flag.Parse()
	r := recorder{tfexp: *tfexp, python: *python, scripts: *scripts, fill: *fill, times: *times}
	if *only != "" {
		r.only = strings.Split(*only, ",")
	}
	if err := r.record(flag.Arg(0), *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

// program is a program of the corpus. It takes part in one of Every rounds, because some programs take long to start.
type program struct {
	name  string
	args  []string // of `tfexp train`; if empty, the Python script has the program
	every int
	units int // number of units of a whole run
}

var programs = []program{
	{name: "mlp", args: []string{"mlp", "--hidden", "128,64", "--batch", "256"}, units: 36},
	{name: "cnn", args: []string{"cnn", "--filters", "4,8", "--hidden", "32", "--batch", "128"}, units: 30},
	{name: "svm", args: []string{"svm", "--batch", "1024", "--passes", "25"}, units: 36},
	{name: "softmax", args: []string{"softmax", "--passes", "20"}, units: 36},
	{name: "numpy_matrices", units: 30}, {name: "silent_numpy", units: 30}, {name: "stream", units: 30},
	{name: "interpreter", units: 30}, {name: "allocations", units: 30}, {name: "noisy", units: 30},
	{name: "cold", units: 30}, {name: "silent_compression", units: 30}, {name: "waiting", units: 30},
	{name: "late_start", units: 24}, {name: "hashes", units: 36},
	{name: "torch_layers", units: 30, every: 6},
}

// Numbers of units of the samples before and after the whole run of a block.
var before, after = []int{2, 4}, []int{1, 3}

// mostForeign is the number of cores that programs other than the load may use during a block. If they use more, the
// block is not recorded.
const mostForeign = 0.3

// warmUp is how long the use of the machine is measured before a block begins.
const warmUp = 300 * time.Millisecond

// recorder has the settings of the command line.
type recorder struct {
	tfexp, python, scripts, fill string
	times                        int
	only                         []string
}

func (o recorder) record(file string, seconds float64) error {
	done, err := ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	seen := map[string]bool{}
	for _, b := range done {
		seen[fmt.Sprint(b.Round, b.Program, b.Threads, b.Load)] = true
	}
	began := time.Now()
	idle := hardware.NewLoadSampler()
	time.Sleep(warmUp)
	if others := idle.Others(); others > mostForeign && o.fill == "" && o.only == nil {
		return fmt.Errorf("other programs use %.2f cores: try again later", others)
	}
	var blocks []Block
	for round := 0; time.Since(began).Seconds() < seconds; round++ {
		for _, b := range o.plan(round) {
			if seen[fmt.Sprint(b.Round, b.Program, b.Threads, b.Load)] {
				continue
			}
			if time.Since(began).Seconds() > seconds {
				break
			}
			p := programs[indexOf(b.Program)]
			command := func() *exec.Cmd { return exec.Command(o.python, o.scripts, p.name) }
			if p.args != nil {
				command = func() *exec.Cmd { return exec.Command(o.tfexp, append([]string{"train"}, p.args...)...) }
			}
			foreign, err := o.block(&b, p, command)
			if err != nil {
				return fmt.Errorf("%s on %d threads: %w", p.name, b.Threads, err)
			}
			if foreign > mostForeign && b.Load != Shared { // a later call of the program records this block again
				fmt.Printf("block left out: other programs used %.2f cores\n", foreign)
				continue
			}
			blocks = append(blocks, b)
		}
	}
	return Append(file, blocks)
}

func indexOf(name string) int {
	for i, p := range programs {
		if p.name == name {
			return i
		}
	}
	return -1
}

// plan returns the blocks of a round in their order.
func (o recorder) plan(round int) []Block {
	var all []Block
	for _, p := range programs {
		if slices.Contains(o.only, p.name) {
			all = append(all, Block{Round: round, Program: p.name, Threads: 1, Load: Shared})
		}
		if o.only != nil || p.every > 0 && round%p.every != 0 {
			continue
		}
		for threads := 1; threads <= 2; threads++ {
			for _, load := range Loads {
				all = append(all, Block{Round: round, Program: p.name, Threads: threads, Load: load})
			}
		}
	}
	r := rand.New(rand.NewPCG(46, uint64(round)))
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all
}

// block runs a program several times under a block's load. It returns how many cores other programs used meanwhile.
func (o recorder) block(b *Block, p program, command func() *exec.Cmd) (foreign float64, err error) {
	all := hardware.NewLoadSampler()
	b.At = time.Now().Unix()
	stop, err := startLoad(b.Load)
	if err != nil {
		return 0, err
	}
	filling, err := startFilling(o.fill, b.Threads)
	if err != nil {
		stop()
		return 0, err
	}
	lengths := append(append(append([]int(nil), before...), p.units), after...)
	if p.every > 0 {
		lengths = []int{before[0], p.units, after[1]}
	}
	if o.times > 1 { // samples of about 3% and 6% of the run
		lengths = []int{1, 2, p.units, 1, 2}
	}
	for _, n := range lengths {
		r, err := one(command(), b.Threads, n*o.times, filling)
		if err != nil {
			stop()
			filling.stop()
			return 0, err
		}
		if o.times > 1 && n == p.units {
			r.Units = nil // there are many, and the wall time suffices
		}
		b.Runs = append(b.Runs, r)
	}
	stop()
	filling.stop()
	return all.Others(), nil
}

// one runs a program for n units.
func one(c *exec.Cmd, threads, n int, f filling) (r Run, err error) {
	cores := "0"
	if threads > 1 {
		cores = "0-" + strconv.Itoa(threads-1)
	}
	bind, err := exec.LookPath("taskset")
	if err != nil {
		return r, err
	}
	c.Args = append([]string{bind, "-c", cores}, c.Args...)
	c.Path = bind
	t := strconv.Itoa(threads)
	for _, v := range os.Environ() {
		if name := "OPENBLAS_"; len(v) < len(name) || v[:len(name)] != name {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "TFEXP_EPOCHS="+strconv.Itoa(n), "OMP_NUM_THREADS="+t, "OPENBLAS_NUM_THREADS="+t,
		"TFEXP_INTRA_THREADS="+t, "TFEXP_INTER_THREADS=1")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return r, err
	}
	speed := ProbeSpeed(threads)
	var exchange *ExchangeWatch
	if threads > 1 {
		exchange = WatchCoreLatency()
	}
	load, filled := hardware.NewLoadSampler(), f.used()
	began := time.Now()
	if err := c.Start(); err != nil {
		return r, err
	}
	var text bytes.Buffer
	first := 0.0 // time of the first line
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if text.Len() == 0 && len(line) > 0 {
			first = time.Since(began).Seconds()
		}
		text.Write(line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
	}
	if err := c.Wait(); err != nil {
		return r, err
	}
	r.Wall, r.Length = time.Since(began).Seconds(), n
	r.Busy = max(0, load.Others()-(f.used()-filled)/r.Wall)
	r.Exchange = exchange.End()
	speed = speed.Until(ProbeSpeed(threads))
	r.Probe, r.ProbeError = speed.Seconds, speed.Error
	report, err := contract.Parse(&text, contract.Last)
	if err != nil {
		return r, err
	}
	if r.Units = report.Epochs; len(r.Units) > 0 {
		r.Startup = max(report.Startup, first-r.Units[0])
	}
	return r, nil
}

// filling is a set of programs that keep cores busy at low priority.
type filling []*exec.Cmd

// startFilling starts a program on each core, or only on the other cores if the job uses one. It starts none if
// command is empty. The program must lower its priority itself.
func startFilling(command string, threads int) (f filling, err error) {
	first := 0
	if threads == 1 {
		first = 1
	}
	for core := first; core < runtime.NumCPU() && command != ""; core++ {
		c := exec.Command("taskset", "-c", strconv.Itoa(core), command)
		if err := c.Start(); err != nil {
			return f, err
		}
		f = append(f, c)
	}
	return f, nil
}

// used returns the CPU time of the programs in seconds.
func (f filling) used() (seconds float64) {
	for _, c := range f {
		stat, _ := folder.ReadSystem(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 12 {
			for _, ticks := range fields[11:13] {
				n, _ := strconv.ParseFloat(string(ticks), 64)
				seconds += n / 100
			}
		}
	}
	return seconds
}

func (f filling) stop() {
	for _, c := range f {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// burnCommand is the argument with which this program runs as a load.
const burnCommand = "burn"

// startLoad starts a load, which runs until stop is called.
func startLoad(kind string) (stop func(), err error) {
	if kind == Quiet || kind == Shared {
		return func() {}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, burnCommand, kind)
	if err := c.Start(); err != nil {
		return nil, err
	}
	time.Sleep(100 * time.Millisecond)
	return func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}, nil
}

// burn keeps one core busy; in bursts, up to two.
func burn(kind string) {
	runtime.GOMAXPROCS(2)
	spin := func(d time.Duration) {
		for end := time.Now().Add(d); time.Now().Before(end); {
		}
	}
	if kind == Busy {
		spin(time.Hour)
	}
	for {
		d := time.Duration(rand.ExpFloat64() * float64(600*time.Millisecond))
		if rand.IntN(2) == 0 {
			go spin(d)
		}
		spin(d)
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(900*time.Millisecond)))
	}
}
