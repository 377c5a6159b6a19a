// Package launch is the half of the job contract that starts programs: the program of a job, and the environment, the
// control file, the checkpoint folder, the flags and the log file that an engine gives it. The engines that run
// programs share it. Package jobs/contract has the contract of both sides.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// Defaults of the engines that run programs.
const (
	// DefaultGrace is the time between SIGTERM and SIGKILL.
	DefaultGrace = 3 * time.Second
	// DefaultLogLimit is the size in bytes at which a job's output ends it as failed.
	DefaultLogLimit = 64 << 20
)

// Job is a program to run. Engines number their jobs by their index in the list that they are given.
type Job struct {
	// Name is the job's name, TFEXP_JOB. Place says where it is written, "shop.hcl line 12", for warnings; may be empty.
	Name, Place string
	// Argv is the program and its arguments. A program without a slash is looked up in the job's PATH; a relative path is
	// relative to Dir. In a container it replaces the image's entry point.
	Argv []string
	// Flags appends "--cpu --numThreads N", or "--gpu --numGPUs N" when the job is given GPUs, to Argv, with the
	// numbers that the job is given at its start.
	Flags bool
	// Env has "k=v" entries that are added to the inherited environment and to the variables of the job contract, and win
	// over both.
	Env []string
	// Dir is the working directory; empty means tfexp's own. A container has a separate one.
	Dir string
	// LogPath is the file that receives the job's output, which it replaces; empty discards the output.
	LogPath string
	// ControlPath is the file that holds the job's present threads, "inter intra", TFEXP_CONTROL; empty means none.
	ControlPath string
	// Standing has the settings in the control file, and the last request; the rest follows from the job.
	Standing contract.Message
	// CheckpointDir is made before the job starts, TFEXP_CHECKPOINT_DIR; may be empty.
	CheckpointDir string
	// Threads is the request in cores, Inter and Intra its split into pools. Zero values mean one core, and a plain
	// request (inter 1, intra all). Memory is the request in bytes; 0 means that it is not limited.
	Threads, Inter, Intra int
	Memory                int64
	// Roles are the parts of a job with several programs.
	Roles []scheduler.Role
	// Alternatives has the request of each alternative of a job that has several, in the place of the fields above.
	Alternatives []Request
	// Steps reports whether the job's work is counted in steps, not in epochs.
	Steps bool
	// Length is how many epochs (or steps) the program trains; 0 where that is not known.
	Length int
	// Progress is how the program reports its progress, besides the lines of the job contract; nil: in no other way.
	Progress ProgressSource
	// GPUs is the request in GPUs, which a sample is given.
	GPUs int
	// Limit ends the job as failed when its service time exceeds it; the time in which it is paused does not count. 0
	// means no limit.
	Limit time.Duration
	// Budget is how long the job may train, over all of its attempts; nil means that its work alone ends it. One that
	// still runs Scoring after its end is ended as failed.
	Budget *time.Duration
	// Container says how the job runs in a container; nil for a job that names no image. ContainerArgv takes the place
	// of Argv there, where it is set.
	Container     *Container
	ContainerArgv []string
}

// Request is the request of an alternative of a job, as the fields of Job.
type Request struct {
	Threads, Inter, Intra int
	Memory                int64
}

// Container is the container of a job.
type Container struct {
	Image string
	// Dir is the working directory in the container; empty: the image's own.
	Dir    string
	Mounts []Mount
}

// Mount is a folder or file of the machine that a container sees. Source is absolute.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Usage is the consumption of a job. It is complete once the job has ended.
type Usage struct {
	// Service is the time in which the job was alive and not paused.
	Service time.Duration
	// User and System are the CPU times of the job's program and of its descendants that were waited for.
	User, System time.Duration
	// MaxRSS is the largest resident set of any one of these processes, in bytes.
	MaxRSS int64
	// ExitCode is the program's exit status, or -1 when a signal killed it or it never started.
	ExitCode int
	// Reason is why the job did not finish; empty when it did.
	Reason string
}

// Choose gives a job the request of the alternative that it starts with; false when it has none of that number.
func (j *Job) Choose(alternative int) bool {
	if len(j.Alternatives) == 0 {
		return alternative == 0
	}
	if alternative < 0 || alternative >= len(j.Alternatives) {
		return false
	}
	r := j.Alternatives[alternative]
	j.Threads, j.Inter, j.Intra, j.Memory = r.Threads, r.Inter, r.Intra, r.Memory
	return true
}

// Pools divides n cores between the job's thread pools; see contract.Split.
func (j *Job) Pools(n int) (inter, intra int) {
	request, asked := max(j.Threads, 1), j.Intra
	if asked <= 0 {
		asked = request
	}
	return contract.Split(j.Inter, asked, request, n)
}

// Restarted is the reason why a job is ended and started again with other settings.
const Restarted = "it is restarted with other settings"

// InPlaceOf returns the job with the name, the files and the standing message of the job that it replaces.
func (j Job) InPlaceOf(old *Job) Job {
	j.Name, j.LogPath, j.ControlPath, j.CheckpointDir = old.Name, old.LogPath, old.ControlPath, old.CheckpointDir
	j.Standing, j.Progress, j.Limit, j.Budget = old.Standing, old.Progress, old.Limit, old.Budget
	return j
}

// EnvTF is the variable with TensorFlow's place in a cluster.
const EnvTF = "TF_CONFIG"

// Programs returns the parts of a grant that are separate programs, as in a job with roles. It is nil if one program
// has all of the grant. A part without cores shares the cores of the other parts on its node.
func Programs(g scheduler.Grant) []scheduler.Part {
	if g.Layout == nil || len(g.Layout.Parts) == 0 || g.Layout.Parts[0].Role == "" {
		return nil
	}
	parts := slices.Clone(g.Layout.Parts)
	for i := range parts {
		if len(parts[i].Cores) > 0 {
			continue
		}
		for _, other := range g.Layout.Parts {
			if other.Node == parts[i].Node {
				parts[i].Cores = parts[i].Cores.Union(other.Cores)
			}
		}
	}
	return parts
}

// PartName names a part of a job: "worker-1".
func PartName(p scheduler.Part) string { return fmt.Sprintf("%s-%d", p.Role, p.Task) }

// Addresses gives each part an address on a host of this machine, at a port that is free now.
func Addresses(host string, parts []scheduler.Part) (contract.Cluster, error) {
	cluster := contract.Cluster{}
	for _, p := range parts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, fmt.Errorf("find a free port for %s: %w", PartName(p), err)
		}
		defer l.Close() // when all have one, so that they differ
		for len(cluster[p.Role]) <= p.Task {
			cluster[p.Role] = append(cluster[p.Role], "")
		}
		cluster[p.Role][p.Task] = l.Addr().String()
	}
	return cluster, nil
}

// joined is a cluster in which a part has an address as well that the job did not have when it started: at a port that
// is free now, on the host of another part. The earlier parts do not learn of it.
func joined(cluster contract.Cluster, p scheduler.Part) (contract.Cluster, error) {
	host := ""
	for _, role := range slices.Sorted(maps.Keys(cluster)) {
		for _, address := range cluster[role] {
			if h, _, err := net.SplitHostPort(address); host == "" && err == nil {
				host = h
			}
		}
	}
	own, err := Addresses(host, []scheduler.Part{p})
	if err != nil {
		return nil, err
	}
	all := maps.Clone(cluster)
	known := cluster[p.Role]
	all[p.Role] = slices.Concat(known, own[p.Role][min(len(known), p.Task):])
	return all, nil
}

// OfPart returns a part of the job as a program: the job with the cores of the part as its request, its place in the
// cluster in its environment, and separate files. The log and the progress of the lead are the job's.
func (j *Job) OfPart(p scheduler.Part, lead bool, cluster contract.Cluster) (Job, error) {
	if p.Task >= len(cluster[p.Role]) {
		var err error
		if cluster, err = joined(cluster, p); err != nil {
			return Job{}, err
		}
	}
	part := *j
	part.Threads, part.Inter, part.Intra = p.Cores.Count(), 0, 0
	part.GPUs, part.Alternatives = p.GPUs.Count(), nil
	if part.ControlPath != "" {
		part.ControlPath += "." + PartName(p)
	}
	if !lead {
		part.Progress = nil
		if path, ok := strings.CutSuffix(part.LogPath, ".log"); ok {
			part.LogPath = path + "." + PartName(p) + ".log"
		} else if part.LogPath != "" {
			part.LogPath += "." + PartName(p)
		}
	}
	place, err := contract.Part{Role: p.Role, Task: p.Task, Cluster: cluster}.Environ()
	if err != nil {
		return Job{}, err
	}
	tf, err := tensorFlow(p, cluster)
	if err != nil {
		return Job{}, err
	}
	part.Env = Merge(place, []string{EnvTF + "=" + tf}, j.Env)
	return part, nil
}

// tensorFlow returns the value of TF_CONFIG for a part.
func tensorFlow(p scheduler.Part, cluster contract.Cluster) (string, error) {
	var config struct {
		Cluster contract.Cluster `json:"cluster"`
		Task    struct {
			Type  string `json:"type"`
			Index int    `json:"index"`
		} `json:"task"`
	}
	config.Cluster, config.Task.Type, config.Task.Index = cluster, p.Role, p.Task
	text, err := json.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", EnvTF, err)
	}
	return string(text), nil
}

// Arguments returns the job's program and arguments under a grant: Argv, with the hardware flags if the job asks for
// them. Sensitive values are still hidden: see secret.Reveal.
func (j *Job) Arguments(grant scheduler.Grant) []string {
	switch gpus := grant.GPUs.Count(); {
	case !j.Flags:
		return j.Argv
	case gpus > 0:
		return append(slices.Clone(j.Argv), "--gpu", "--numGPUs", strconv.Itoa(gpus))
	default:
		return append(slices.Clone(j.Argv), "--cpu", "--numThreads", strconv.Itoa(grant.Cores.Count()))
	}
}

// Paths are the control file and the checkpoint folder as the program sees them; empty for none.
type Paths struct{ Control, Checkpoint string }

// Environ returns the variables of the job contract for a job that is given n cores and these GPUs (as programs name
// them), and then the job's own, as "k=v". Sensitive values are still hidden: see secret.Reveal.
func (j *Job) Environ(n int, gpus []string, paths Paths) []string {
	inter, intra := j.Pools(n)
	given := []string{
		contract.EnvJob + "=" + j.Name,
		contract.EnvInter + "=" + strconv.Itoa(inter),
		contract.EnvIntra + "=" + strconv.Itoa(intra),
		contract.EnvOMP + "=" + strconv.Itoa(intra),
		contract.EnvGPUs + "=" + strconv.Itoa(len(gpus)),
		// Empty hides all devices from a job that was given none.
		contract.EnvVisibleGPUs + "=" + strings.Join(gpus, ","),
	}
	if len(gpus) > 0 {
		// Indices are in the order of the bus; by default CUDA counts the fastest GPU first.
		given = append(given, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
	}
	if j.Budget != nil {
		given = append(given, contract.EnvBudget+"="+strconv.FormatFloat(j.Budget.Seconds(), 'f', -1, 64))
	}
	if paths.Control != "" {
		given = append(given, contract.EnvControl+"="+paths.Control)
	}
	if paths.Checkpoint != "" {
		given = append(given, contract.EnvCheckpointDir+"="+paths.Checkpoint)
	}
	return Merge(given, j.Env)
}

// Inherited removes the variables that another tfexp has set in an environment and that this one may leave unset. This
// tfexp is then itself a job of the other one. It also removes the values of variables of experiments.
func Inherited(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(Reserved, name) || strings.HasPrefix(name, secret.Environment)
	})
}

// Reserved are the variables of the job contract that a program may not have from another tfexp.
var Reserved = []string{
	contract.EnvEpochs, contract.EnvSteps, contract.EnvControl, contract.EnvCheckpointDir, contract.EnvCheckpointEvery,
	contract.EnvBudget, contract.EnvTarget, contract.EnvRole, contract.EnvTask, contract.EnvCluster, EnvTF,
}

// Merge joins lists of "k=v" entries; of several for one name the last stays, at the place of the first.
func Merge(lists ...[]string) []string {
	var env []string
	at := map[string]int{}
	for _, entry := range slices.Concat(lists...) {
		name, _, _ := strings.Cut(entry, "=")
		if i, ok := at[name]; ok {
			env[i] = entry
			continue
		}
		at[name] = len(env)
		env = append(env, entry)
	}
	return env
}

// Absolute makes a path of tfexp's independent of the job's working directory. The empty path stays empty.
func Absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Control returns the content of the control file of a job that has n cores.
func (j *Job) Control(n int) []byte {
	inter, intra := j.Pools(n)
	return fmt.Appendf(nil, "%d %d\n", inter, intra)
}

// Content returns the content of the control file of a job with n cores. before is its previous number of cores (0:
// unknown), used the used part of its budget. The request may be empty.
func (j *Job) Content(n, before int, used time.Duration, request contract.Message) ([]byte, error) {
	m := j.Stands(n, before, used)
	m.Settings = j.Standing.Settings
	if !request.Asks() {
		request = j.Standing // the last request, which a program that has carried it out knows by its serial
	}
	m = m.Asking(request)
	if reflect.ValueOf(m).IsZero() {
		return j.Control(n), nil
	}
	return j.Request(n, m)
}

// Request returns the content of the control file of a job that has n cores and is asked for something.
func (j *Job) Request(n int, request contract.Message) ([]byte, error) {
	request.Inter, request.Intra = j.Pools(n)
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write control file: %w", err)
	}
	return append(text, '\n'), nil
}

// ReplaceControl gives the control file of a job, if it has one, another content. The file is replaced as a whole; it
// is not synced, since it has no meaning after the job's death. at is when the content held, and becomes the file's
// time. A program counts the time left from there, however long the write took.
func (j *Job) ReplaceControl(content []byte, at time.Time) error {
	if j.ControlPath == "" {
		return nil
	}
	if err := folder.MkdirAll(filepath.Dir(j.ControlPath), 0o755); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	next := j.ControlPath + ".new"
	if err := folder.WriteFile(next, content, 0o644); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	if err := folder.Chtimes(next, at, at); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	if err := folder.Rename(next, j.ControlPath); err != nil {
		return fmt.Errorf("write control file: %w", err)
	}
	return nil
}

// Prepare makes the control file and the checkpoint folder of a job that starts on n cores. used is the part of its
// budget that earlier attempts have used.
func (j *Job) Prepare(n int, used time.Duration) error {
	text, err := j.Content(n, 0, used, contract.Message{})
	if err != nil {
		return err
	}
	if err := j.ReplaceControl(text, time.Now()); err != nil {
		return err
	}
	if j.CheckpointDir == "" {
		return nil
	}
	if err := folder.MkdirAll(j.CheckpointDir, 0o755); err != nil {
		return fmt.Errorf("make checkpoint directory: %w", err)
	}
	return nil
}

// Underlying removes the operation and the path from an error whose caller names them itself.
func Underlying(err error) error {
	var execErr *exec.Error
	if errors.As(err, &execErr) {
		err = execErr.Err
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return err
}
