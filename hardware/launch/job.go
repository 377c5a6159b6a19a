// Package launch starts the programs of jobs. It has tfexp's side of the job contract: environment, control file,
// checkpoint folder, flags and log file. The engines that run programs share it. Package jobs/contract defines the
// contract.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// Defaults of engines that run programs.
const (
	// DefaultGrace is the time between SIGTERM and SIGKILL.
	DefaultGrace = 3 * time.Second
	// DefaultLogLimit is the size of a job's output, in bytes, at which the job is ended as failed.
	DefaultLogLimit = 64 << 20
)

// Job is a program to run. Its number is its index in the list of jobs that an engine gets.
type Job struct {
	// Name is the job's name, TFEXP_JOB. Place is the place of its block, "shop.hcl line 12", for warnings; it may
	// be empty.
	Name, Place string
	// Argv is the program and its arguments. A program without a slash is searched in the job's PATH; a relative
	// path is relative to Dir. In a container, Argv replaces the image's entry point.
	Argv []string
	// Flags says that "--cpu --numThreads N", or with GPUs "--gpu --numGPUs N", is appended to Argv. N is the number
	// that the job gets at its start.
	Flags bool
	// Env has "k=v" entries. They override the inherited environment and the variables of the job contract.
	Env []string
	// Dir is the working directory; empty means tfexp's own. Container.Dir is used in containers.
	Dir string
	// LogPath is the file for the job's output; an existing file is replaced. If LogPath is empty, the output is
	// discarded.
	LogPath string
	// ControlPath is the path of the control file (TFEXP_CONTROL), which has the job's present threads, "inter
	// intra"; empty for no control file.
	ControlPath string
	// Standing has the settings and the last request for the control file. The other content is computed from the
	// job.
	Standing contract.Message
	// CheckpointDir is a folder that is created before the job starts (TFEXP_CHECKPOINT_DIR); empty for no folder.
	CheckpointDir string
	// Threads is the requested number of cores; 0 means 1. Inter and Intra split it into thread pools; 0 means inter
	// 1 and intra all. Memory is in bytes; 0 means no limit.
	Threads, Inter, Intra int
	Memory                int64
	// Roles are the parts of a job with several programs.
	Roles []scheduler.Role
	// Alternatives has the request of each alternative, which replaces the fields above; nil for a job without
	// alternatives.
	Alternatives []Request
	// Steps says that the job's work is in steps, not epochs.
	Steps bool
	// Length is the number of epochs (or steps) that the program trains; 0 if unknown.
	Length int
	// Progress says how the program reports progress, besides lines of the job contract; nil if in no other way.
	Progress ProgressSource
	// GPUs is the requested number of GPUs, which samples get.
	GPUs int
	// Limit is the service time after which the job is ended as failed; 0 means no limit. Paused time does not
	// count.
	Limit time.Duration
	// Budget is the greatest service time of the job, over all of its attempts; nil means no limit. If the job runs
	// EvaluationGrace longer, it is ended as failed.
	Budget *time.Duration
	// Container describes the container of the job; nil if the job has no image. ContainerArgv replaces Argv in it,
	// unless it is nil.
	Container     *Container
	ContainerArgv []string
}

// Request is the request of an alternative, with fields as in Job.
type Request struct {
	Threads, Inter, Intra int
	Memory                int64
}

// Container is the container of a job.
type Container struct {
	Image string
	// Dir is the working directory in the container; empty means the image's own.
	Dir    string
	Mounts []Mount
}

// Mount is a folder or file of the machine that the container can use. Source is an absolute path.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Usage is the resources that a job has used. It is complete once the job has ended.
type Usage struct {
	// Service is the time in which the job ran and was not paused.
	Service time.Duration
	// User and System are the CPU times of the job's program and of its descendants for which it has waited.
	User, System time.Duration
	// MaxRSS is the largest resident set size of any one of these processes, in bytes.
	MaxRSS int64
	// ExitCode is the exit status of the program; -1 if a signal killed it or it never started.
	ExitCode int
	// Reason is why the job did not finish; empty if it did.
	Reason string
}

// Choose gives a job the request of an alternative. It returns false if the job has no alternative with that index.
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

// Pools splits n cores into the job's thread pools; see contract.Split.
func (j *Job) Pools(n int) (inter, intra int) {
	request, asked := max(j.Threads, 1), j.Intra
	if asked <= 0 {
		asked = request
	}
	return contract.Split(j.Inter, asked, request, n)
}

// Restarted is the reason with which a job is ended to be started with other settings.
const Restarted = "it is restarted with other settings"

// InPlaceOf returns the job with the name, the files and the standing message of the job that it replaces.
func (j Job) InPlaceOf(old *Job) Job {
	j.Name, j.LogPath, j.ControlPath, j.CheckpointDir = old.Name, old.LogPath, old.ControlPath, old.CheckpointDir
	j.Standing, j.Progress, j.Limit, j.Budget = old.Standing, old.Progress, old.Limit, old.Budget
	return j
}

// EnvTF is the environment variable that describes a TensorFlow cluster.
const EnvTF = "TF_CONFIG"

// Programs returns the parts of a grant that are separate programs. It is nil if the job is one program. A part
// without cores shares the cores of the other parts on its node.
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

// PartName returns the name of a part: "worker-1".
func PartName(p scheduler.Part) string { return fmt.Sprintf("%s-%d", p.Role, p.Task) }

// Addresses returns an address for each part on this machine, with a port that is free now.
func Addresses(host string, parts []scheduler.Part) (contract.Cluster, error) {
	cluster := contract.Cluster{}
	for _, p := range parts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, fmt.Errorf("find a free port for %s: %w", PartName(p), err)
		}
		defer l.Close() // at the end, so that the ports differ
		for len(cluster[p.Role]) <= p.Task {
			cluster[p.Role] = append(cluster[p.Role], "")
		}
		cluster[p.Role][p.Task] = l.Addr().String()
	}
	return cluster, nil
}

// OfPart returns a part of the job as a separate program: with the cores of the part, its place in the cluster as
// environment variables, and separate files. The leading part (lead) keeps the log and the progress of the job.
func (j *Job) OfPart(p scheduler.Part, lead bool, cluster contract.Cluster) (Job, error) {
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

// Spares reports whether the job may continue without a task of a role.
func (j *Job) Spares(role string) bool {
	return slices.ContainsFunc(j.Roles, func(r scheduler.Role) bool { return r.Name == role && r.Elastic && !r.Vital })
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

// Arguments returns the program and its arguments for a grant: Argv, and hardware flags if the job has Flags.
// Sensitive values are still hidden; see secret.Reveal.
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

// Paths are the paths of the control file and the checkpoint folder as the program sees them; empty if it has none.
type Paths struct{ Control, Checkpoint string }

// Environ returns environment variables as "k=v" for a job with n cores and the given GPUs: the variables of the job
// contract, then the job's own. Sensitive values are still hidden; see secret.Reveal.
func (j *Job) Environ(n int, gpus []string, paths Paths) []string {
	inter, intra := j.Pools(n)
	given := []string{
		contract.EnvJob + "=" + j.Name,
		contract.EnvInter + "=" + strconv.Itoa(inter),
		contract.EnvIntra + "=" + strconv.Itoa(intra),
		contract.EnvOMP + "=" + strconv.Itoa(intra),
		contract.EnvGPUs + "=" + strconv.Itoa(len(gpus)),
		// An empty value hides all GPUs from the job.
		contract.EnvVisibleGPUs + "=" + strings.Join(gpus, ","),
	}
	if len(gpus) > 0 {
		// Indexes follow the order of the PCI bus. CUDA's default would be the fastest GPU first.
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

// Inherited removes from an environment the job-contract variables that this tfexp may leave unset, for the case
// that it runs as a job of another tfexp. It also removes values of experiment variables.
func Inherited(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(Reserved, name) || strings.HasPrefix(name, secret.Environment)
	})
}

// Reserved are the variables of the job contract that Inherited removes.
var Reserved = []string{
	contract.EnvEpochs, contract.EnvSteps, contract.EnvControl, contract.EnvCheckpointDir, contract.EnvCheckpointEvery,
	contract.EnvBudget, contract.EnvTarget, contract.EnvRole, contract.EnvTask, contract.EnvCluster, EnvTF,
}

// Merge joins lists of "k=v" entries. If a name repeats, the last entry replaces the first.
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

// Absolute returns an absolute path, because the job's working directory may differ from tfexp's. An empty path
// stays empty.
func Absolute(path string) string {
	if path == "" {
		return ""
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Control returns the content of the control file of a job with n cores.
func (j *Job) Control(n int) []byte {
	inter, intra := j.Pools(n)
	return fmt.Appendf(nil, "%d %d\n", inter, intra)
}

// Content returns the content of the control file of a job with n cores. before is its previous number of cores (0
// means unknown), and used the used part of its budget. request may be empty.
func (j *Job) Content(n, before int, used time.Duration, request contract.Message) ([]byte, error) {
	m := j.Stands(n, before, used)
	m.Settings = j.Standing.Settings
	if !request.Asks() {
		request = j.Standing // repeat the last request; the program ignores it if it knows the serial number
	}
	m = m.Asking(request)
	if reflect.ValueOf(m).IsZero() {
		return j.Control(n), nil
	}
	return j.Request(n, m)
}

// Request returns the content of the control file of a job with n cores, with a request to the program.
func (j *Job) Request(n int, request contract.Message) ([]byte, error) {
	request.Inter, request.Intra = j.Pools(n)
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("write control file: %w", err)
	}
	return append(text, '\n'), nil
}

// ReplaceControl replaces the content of a job's control file, if it has one. It is not synced to disk, because only
// the running job reads it. at becomes the time of the file: the instant to which the content applies. Programs
// count the remaining time from there, even if the write was slow.
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

// Prepare creates the control file and the checkpoint folder of a job that starts on n cores. used is the part of
// its budget that earlier attempts have used.
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

// Underlying returns the cause of an error, without the operation and the path. The caller's message has these.
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
