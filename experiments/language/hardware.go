package language

import "github.com/tfexp/tfexp/experiments/schema"

// Engines returns the names of the engines that hardware may have.
func Engines() []string { return []string{"process", "simulated", "docker"} }

// Capabilities are what an engine may lack.
var Capabilities = []string{"pause", "resize", "memory", "gpus"}

func hardwareBlock() *schema.Block {
	return &schema.Block{
		Name: "hardware", Label: "name, read as `hardware.<name>`", Unique: true,
		Doc: "A machine or a cluster, and the engine that runs jobs on it. The engine `process` runs them for real on this machine; `docker` runs them for real in containers, on one or several machines; `simulated` runs them in virtual time, on any cluster.",
		Example: `hardware "here" {
  engine  = "process"
  threads = host.threads
}

hardware "cluster" {
  engine = "simulated"
  noise  = 0.05
  node "big" {
    count   = 4
    threads = 16
    memory  = "64GiB"
  }
  overheads {
    start = "200ms"
    pause = "10ms"
  }
}

hardware "containers" {
  engine  = "docker"
  threads = host.threads
  pull    = "missing"
}`,
		Args: []schema.Arg{
			{Name: "engine", Type: schema.String, Required: true, Allowed: Engines(), Doc: "What runs the jobs.", Example: `"process"`},
			{Name: "threads", Type: schema.Integer, DefaultDoc: "`host.threads` on `process` and `docker`; required on `simulated` without nodes", Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "Cores of the machine.", Example: `host.threads`},
			{Name: "memory", Type: schema.Size, Positive: true, DefaultDoc: "`host.memory` on a real machine, else not accounted for", Doc: "Memory of the machine. Jobs are admitted while the sum of their `memory` stays within.", Example: `"16GiB"`},
			{Name: "gpus", Type: schema.Integer, DefaultDoc: "`host.gpus` on `process`, else 0", Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads), Doc: "GPUs of the machine. A real job is told in `CUDA_VISIBLE_DEVICES` which of them are its own; no other job has them meanwhile. On a machine without the GPUs that its jobs ask for, an experiment ends with exit status 6.", Example: `2`},
			gpuTypeArg,
			{Name: "noise", Type: schema.Number, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(10), Doc: "Relative standard deviation of run times (lognormal). Only on `simulated`.", Example: `0.05`},
			{Name: "lacks", Type: schema.Strings, MayBeEmpty: true, Allowed: Capabilities, Doc: "What the simulated engine is told not to be able to do.", Example: `["pause"]`},
			{Name: "host", Type: schema.String, DefaultDoc: "the daemon that the docker command would use (`DOCKER_HOST`)", Doc: "The address of the Docker daemon. Only on `docker`; several daemons are several node blocks.", Example: `"unix:///var/run/docker.sock"`},
			{Name: "cpus", Type: schema.String, Default: `"cpuset"`, Allowed: []string{"cpuset", "quota"}, Doc: "Whether a container is bound to its own cores (`cpuset`), or may use all of them for as much time as it has cores (`quota`). Only on `docker`.", Example: `"quota"`},
			{Name: "network", Type: schema.String, Default: `"none"`, Doc: "The network that containers are in: `none`, or one of the daemon's, such as `bridge`. Only on `docker`.", Example: `"bridge"`},
			{Name: "pull", Type: schema.String, Default: `"never"`, Allowed: []string{"never", "missing", "always"}, Doc: "When images are fetched from their registry, before anything runs. Only on `docker`.", Example: `"missing"`},
			{Name: "privileges", Type: schema.String, Default: `"none"`, Allowed: []string{"none", "default", "all"}, Doc: "What containers may do beyond computing: nothing (no capabilities, and no way to gain any), what Docker allows by default, or all that the machine can (`--privileged`). Only on `docker`.", Example: `"default"`},
			{Name: "user", Type: schema.String, DefaultDoc: "your own user and group on this machine, the image's user on others", Doc: "The user, or `user:group`, that programs run as in the container; checkpoints belong to that user. Only on `docker`.", Example: `"root"`},
			{Name: "platform", Type: schema.String, DefaultDoc: "the daemon's", Doc: "The platform of the images. Only on `docker`.", Example: `"linux/arm64"`},
		},
		Blocks: []*schema.Block{
			{
				Name: "node", Label: "name", Unique: true,
				Doc: "Machines of a cluster, instead of `threads`, `memory` and `gpus`. On `simulated`; and on `docker`, where each is a daemon of its own.",
				Args: []schema.Arg{
					{Name: "count", Type: schema.Integer, Default: `1`, Min: schema.Limit(1), Max: schema.Limit(schema.MaxNodes), Doc: "How many of them.", Example: `4`},
					{Name: "threads", Type: schema.Integer, Required: true, Min: schema.Limit(1), Max: schema.Limit(schema.MaxThreads), Doc: "Cores of each.", Example: `16`},
					{Name: "memory", Type: schema.Size, Positive: true, DefaultDoc: "not accounted for", Doc: "Memory of each.", Example: `"64GiB"`},
					{Name: "gpus", Type: schema.Integer, Default: `0`, Min: schema.Limit(0), Max: schema.Limit(schema.MaxThreads), Doc: "GPUs of each.", Example: `8`},
					{Name: "host", Type: schema.String, DefaultDoc: "the daemon that the docker command would use", Doc: "The address of the node's Docker daemon. Only on `docker`.", Example: `"tcp://node1:2375"`},
					gpuTypeArg,
				},
			},
			{
				Name: "overheads", Single: true,
				Doc: "Time that an action costs the job it is done to. Only on `simulated`. Without this block the times apply that were measured with the samples of the jobs; for jobs that are not sampled, because the file gives their `runtime`, there are none.",
				Args: []schema.Arg{
					{Name: "start", Type: schema.Duration, Default: `"0s"`, Doc: "To start.", Example: `"200ms"`},
					{Name: "pause", Type: schema.Duration, Default: `"0s"`, Doc: "To pause.", Example: `"10ms"`},
					{Name: "resume", Type: schema.Duration, Default: `"0s"`, Doc: "To resume.", Example: `"10ms"`},
					{Name: "resize", Type: schema.Duration, Default: `"0s"`, Doc: "To resize.", Example: `"50ms"`},
				},
			},
			contentionBlock,
		},
	}
}
