package docker

import (
	"context"
	"embed"
	"encoding/gob"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// defaultPids is the default of the argument pids: more than training programs need, and less than a machine can
// have.
const defaultPids = 4096

// kindName is the name of this engine in experiments.
const kindName = "docker"

func init() {
	engine.Register(&kind)
	gob.Register(&settings{}) // cells are encoded when they run as tasks
}

// kind describes this engine to other packages.
var kind = engine.Kind{
	Name: kindName, Rank: 30,
	Doc: "runs jobs for real, in containers on one or several machines",
	Example: `hardware "containers" {
  engine  = "docker"
  threads = host.threads
  pull    = "missing"
}`,
	Traits:   engine.Traits{Real: true, Contained: true, Clusters: true, Changes: true},
	Args:     append([]schema.Arg{engine.PauseArg}, schema.Described[arguments](source)...),
	NodeArgs: schema.Described[nodeArguments](source),
	Decode:   decode,
	Machine: func(b engine.Block, host engine.Host) scheduler.Node {
		n := scheduler.Node{Threads: host.Threads}
		if !b.Set["host"] { // otherwise it is another machine, whose memory is not known
			n.Memory = host.MemoryBytes
		}
		return n
	},
	Capabilities: func(h *engine.Hardware) scheduler.Capabilities {
		c := Capabilities()
		c.GPUs, c.Migrate = h.HasGPUs(), h.Suspends
		return c
	},
	Check:    checkPauses,
	CheckJob: checkJob,
	Lines:    keyLines,
	Images:   findImages,
	Open:     openSession,
	Doctor: func(ctx context.Context, inUse func(string) bool) []hardware.Check {
		return []hardware.Check{CheckDaemon(ctx, inUse)}
	},
}

//go:embed hardware_block.go
var source embed.FS

// arguments are the arguments of a hardware block.
type arguments struct {
	// The address of the Docker daemon; for several daemons, write node blocks.
	//
	// Default: the daemon that the docker command would use (`DOCKER_HOST`).
	//
	//	host = "unix:///var/run/docker.sock"
	Host string `arg:"host"`
	settings
}

// nodeArguments are the arguments of a node block.
type nodeArguments struct {
	// The address of the node's Docker daemon. Nodes of one daemon divide the cores and GPUs of its machine among them, in
	// their order.
	//
	// Default: the daemon that the docker command would use.
	//
	//	host = "tcp://node1:2375"
	Host string `arg:"host"`
}

// settings are the settings of a hardware block that cells need. Fields are exported so that they can be printed.
type settings struct {
	// Whether a container is bound to its own cores (`cpuset`), or uses a share of the time of all cores (`quota`).
	//
	//	cpus = "quota"
	CPUs string `arg:"cpus" default:"cpuset" allowed:"cpuset quota"`
	// The Docker network of containers: `none`, or another one, such as `bridge`.
	//
	//	network = "bridge"
	Network string `arg:"network" default:"none"`
	// When tfexp fetches images from their registry.
	//
	//	pull = "missing"
	Pull string `arg:"pull" default:"never" allowed:"never missing always"`
	// The privileges of containers: no capabilities (`none`), Docker's default capabilities, or all (`--privileged`).
	//
	//	privileges = "default"
	Privileges Privileges `arg:"privileges" default:"none" allowed:"none default all"`
	// The most processes and threads that a container may have at once.
	//
	//	pids = 256
	Pids int `arg:"pids" default:"4096" min:"1" max:"4194304"`
	// The user, or `user:group`, as which programs run and write checkpoints in the container.
	//
	// Default: your own user and group on this machine, the image's user on others.
	//
	//	user = "root"
	User string `arg:"user"`
	// The platform of the images.
	//
	// Default: the daemon's.
	//
	//	platform = "linux/arm64"
	Platform string `arg:"platform"`
	// Hosts has the address of the daemon of each node; empty for the daemon of the docker command.
	Hosts []string
}

// settingsOf returns the settings of a hardware of this engine.
func settingsOf(h *engine.Hardware) *settings { return h.Settings.(*settings) }

// decode checks the arguments of a block.
func decode(b engine.Block) (any, []engine.Problem) {
	var a arguments
	b.Values.Fill(&a)
	s := &a.settings
	var problems []engine.Problem
	if p := s.Platform; p != "" && (!strings.HasPrefix(p, "linux/") || p == "linux/") {
		problems = append(problems, engine.Problem{
			Arg: "platform", Summary: "Not a platform",
			Detail: fmt.Sprintf("The platform %q is invalid: write \"linux/amd64\" or \"linux/arm64\".", p),
		})
	}
	if len(b.Nodes) == 0 {
		s.Hosts = []string{a.Host}
		return s, append(problems, checkHost(0, b.Values)...)
	}
	if b.Set["host"] {
		problems = append(problems, engine.Problem{
			Arg: "host", Summary: "Contradicting arguments", Detail: "host belongs in the node blocks of this hardware.",
		})
	}
	for i, n := range b.Nodes {
		problems = append(problems, s.addNode(i+1, n)...)
	}
	return s, problems
}

// checkHost checks the address of a daemon.
func checkHost(node int, v engine.Values) []engine.Problem {
	host, given := v.All["host"].(string)
	if !given {
		return nil
	}
	for _, scheme := range []string{"unix:///", "tcp://"} {
		if strings.HasPrefix(host, scheme) && len(host) > len(scheme) {
			return nil
		}
	}
	return []engine.Problem{{
		Node: node, Arg: "host", Summary: "Not a Docker host",
		Detail: fmt.Sprintf("%q is not the address of a Docker daemon: write an address like "+
			"\"unix:///var/run/docker.sock\" or "+
			"\"tcp://node1:2375\".", host),
	}}
}

// addNode adds the daemon of a node block, once for each of its nodes. number is the number of the block, from 1.
func (s *settings) addNode(number int, n engine.NodeBlock) []engine.Problem {
	for range max(n.Count, 1) {
		s.Hosts = append(s.Hosts, engine.Get[string](n.Values, "host"))
	}
	return checkHost(number, n.Values)
}

// minMemory is the smallest memory limit that Docker accepts, in bytes.
const minMemory = 6 << 20

// checkPauses reports jobs whose checkpoints would be lost with their containers.
func checkPauses(h *engine.Hardware, _ engine.Host) []engine.Problem {
	if !h.Suspends || !slices.ContainsFunc(settingsOf(h).Hosts, isRemote) {
		return nil
	}
	return []engine.Problem{{Arg: engine.PauseArg.Name, Summary: "Checkpoints on another machine",
		Detail: fmt.Sprintf("A daemon of the hardware %q is on another machine, where containers do not find the "+
			"checkpoints "+
			"of those before them: paused jobs cannot be started again from these.", h.Name)}}
}

// isRemote reports whether a daemon's address is on another machine.
func isRemote(host string) bool { return strings.HasPrefix(host, "tcp://") }

// checkJob checks a job that runs in containers.
func checkJob(h *engine.Hardware, j *engine.Job, _ engine.Host) []engine.Problem {
	var problems []engine.Problem
	add := func(arg, summary, detail string, args ...any) {
		problems = append(problems, engine.Problem{Arg: arg, Summary: summary, Detail: fmt.Sprintf(detail, args...)})
	}
	if j.Memory > 0 && j.Memory < minMemory {
		add("memory", "Too little memory for a container",
			"memory is the limit of the container on the hardware %q, and Docker accepts none below %s; this is %s.",
			h.Name, schema.FormatSize(minMemory), schema.FormatSize(j.Memory))
	}
	if j.Nodes > 1 {
		add("nodes", "A container runs on one node",
			"The job %q asks for %d nodes, but on the hardware %q a job is one container.",
			j.Name, j.Nodes, h.Name)
	}
	if hosts := settingsOf(h).Hosts; j.Roles && slices.ContainsFunc(hosts,
		func(host string) bool { return host != hosts[0] }) {
		add("", "Parts on several Docker daemons",
			"The parts of the job %q share a network, which several daemons do not have: the nodes of the hardware %q have "+
				"to be of one host.", j.Name, h.Name)
	}
	if slices.ContainsFunc(settingsOf(h).Hosts, isRemote) {
		return problems // a daemon of another machine mounts folders of that machine
	}
	for _, m := range j.Container.Mounts {
		if _, err := os.Stat(m.Source); err != nil {
			// The summaries differ, because equal ones in a line would be shown as one message.
			add("mounts", "Missing mount "+m.Source, "The folder %s cannot be mounted: %s.", m.Source, launch.Underlying(err))
		}
	}
	return problems
}

// keyLines returns the lines of cell keys for the settings.
func keyLines(h *engine.Hardware) []engine.KeyLine {
	s := settingsOf(h)
	list := []engine.KeyLine{{Label: "hardware.docker",
		Value: fmt.Sprintf("cpus %s, network %s, privileges %s, user %q, platform %q",
			s.CPUs, s.Network, s.Privileges, s.User, s.Platform)}}
	if s.Pids != defaultPids {
		list = append(list, engine.KeyLine{Label: "hardware.docker.pids", Value: strconv.Itoa(s.Pids)})
	}
	for i, host := range s.Hosts {
		if host != "" {
			list = append(list, engine.KeyLine{Label: fmt.Sprintf("hardware.node.%d.host", i), Value: host})
		}
	}
	return list
}
