package batch

import (
	"embed"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Partition is a set of nodes with rules for the jobs on them.
//
// A partition of the cluster: nodes with limits for their jobs. Partitions may share nodes. A job belongs to the
// partition that it names, or to the first with `default`. Read by the order `multifactor` and the backfill `periodic`.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  partition "short" {
//	    nodes    = ["n-[9-16]"]
//	    tier     = 2
//	    max_time = "2m"
//	  }
//	}
type Partition struct {
	// The name, if it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// The names of the nodes; `n-[1-16,20]` names several.
	//
	// Default: all.
	//
	//	nodes = ["n-[1-12]"]
	Nodes []string `arg:"nodes"`
	// Whether jobs that name no partition run in this one.
	//
	//	default = true
	Default bool `arg:"default" default:"false"`
	// The tier of the partition: jobs of a higher tier go first, whatever their priorities.
	//
	//	tier = 2
	Tier int `arg:"tier" default:"1" min:"0" max:"65533"`
	// The value of the partition in priorities, relative to the greatest value of all partitions.
	//
	//	factor = 10
	Factor int `arg:"factor" default:"1" min:"0" max:"65533"`
	// The longest time limit of a job, which is also the limit of jobs that request none. A job that asks for more
	// never starts.
	//
	// Default: no limit.
	//
	//	max_time = "1h"
	MaxTime time.Duration `arg:"max_time,positive"`
	// The time limit of jobs that request none.
	//
	// Default: `max_time`.
	//
	//	default_time = "10m"
	DefaultTime time.Duration `arg:"default_time,positive"`
	// The most nodes of a job.
	//
	// Default: no bound.
	//
	//	max_nodes = 4
	MaxNodes int `arg:"max_nodes" min:"1" max:"nodes"`
	// The quality of service whose limits apply to all jobs of the partition together.
	//
	// Default: none.
	//
	//	qos = "short"
	QOS string `arg:"qos"`
	// What happens to jobs that are preempted by a higher tier (`preemption_by = "partition"`).
	//
	// Default: the policy's.
	//
	//	preempt_mode = "requeue"
	PreemptMode string `arg:"preempt_mode" allowed:"off requeue cancel suspend"`
	// The time that a preempted job may still run.
	//
	//	grace = "1m"
	Grace time.Duration `arg:"grace" default:"0s"`
	// Whether its jobs share their nodes with no other job.
	//
	//	exclusive = true
	Exclusive bool `arg:"exclusive" default:"false"`

	nodes bitmap
}

// Limits bound the jobs of a user, an account or a quality of service.
type Limits struct {
	// The most cores of all running jobs together.
	//
	// Default: no bound.
	//
	//	group_cores = 96
	GroupCores int `arg:"group_cores" min:"0" max:"1e9"`
	// The most nodes of all running jobs together.
	//
	// Default: no bound.
	//
	//	group_nodes = 8
	GroupNodes int `arg:"group_nodes" min:"0" max:"1e9"`
	// The most GPUs of all running jobs together.
	//
	// Default: no bound.
	//
	//	group_gpus = 8
	GroupGPUs int `arg:"group_gpus" min:"0" max:"1e9"`
	// The most jobs that run at the same time.
	//
	// Default: no bound.
	//
	//	group_jobs = 20
	GroupJobs int `arg:"group_jobs" min:"0" max:"1e9"`
	// The most jobs that wait or run at the same time; more jobs are refused.
	//
	// Default: no bound.
	//
	//	group_submit = 100
	GroupSubmit int `arg:"group_submit" min:"0" max:"1e9"`
	// The most cores of one job.
	//
	// Default: no bound.
	//
	//	max_cores = 64
	MaxCores int `arg:"max_cores" min:"0" max:"1e9"`
	// The most nodes of one job.
	//
	// Default: no bound.
	//
	//	max_nodes = 4
	MaxNodes int `arg:"max_nodes" min:"0" max:"1e9"`
	// The most jobs of one user that run at the same time.
	//
	// Default: no bound.
	//
	//	max_jobs = 2
	MaxJobs int `arg:"max_jobs" min:"0" max:"1e9"`
	// The most jobs of one user that wait or run; more jobs are refused.
	//
	// Default: no bound.
	//
	//	max_submit = 50
	MaxSubmit int `arg:"max_submit" min:"0" max:"1e9"`
	// The most cores of all running jobs of one user.
	//
	// Default: no bound.
	//
	//	max_cores_per_user = 128
	MaxCoresPerUser int `arg:"max_cores_per_user" min:"0" max:"1e9"`
	// The longest time limit of a job.
	//
	// Default: no bound.
	//
	//	max_wall = "24h"
	MaxWall time.Duration `arg:"max_wall,positive"`
}

// QOS is a quality of service.
//
// A quality of service that jobs request. Limits without `group_` hold for each user, or job.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  qos "low" {}
//	  qos "high" {
//	    priority = 100
//	    preempts = ["low"]
//	  }
//	}
type QOS struct {
	// The name, if it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// The value of the quality of service in priorities, relative to the greatest value.
	//
	//	priority = 100
	Priority int `arg:"priority" default:"0" min:"0" max:"1e9"`
	// The qualities of service whose running jobs it may preempt (`preemption_by = "qos"`).
	//
	// Default: none.
	//
	//	preempts = ["low"]
	Preempts []string `arg:"preempts"`
	// What happens to its jobs when they are preempted.
	//
	// Default: the policy's.
	//
	//	preempt_mode = "cancel"
	PreemptMode string `arg:"preempt_mode" allowed:"off requeue cancel suspend"`
	// The time that a preempted job may still run.
	//
	//	grace = "1m"
	Grace time.Duration `arg:"grace" default:"0s"`
	// The time after its start in which a job cannot be preempted.
	//
	//	exempt = "10m"
	Exempt time.Duration `arg:"exempt" default:"0s"`
	// The factor by which usage counts in fair shares.
	//
	//	usage_factor = 0.5
	UsageFactor float64 `arg:"usage_factor" default:"1" min:"0" max:"1e6"`
	Limits
}

// Account is an account with users, or a user of one.
//
// An account, with its share of the machine, its users and their limits. Accounts may have a parent.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  account "physics" {
//	    shares      = 50
//	    group_cores = 96
//	    user "ada" { shares = 3 }
//	  }
//	}
type Account struct {
	// The name, if it cannot be a label.
	//
	// Default: the label.
	//
	//	name = "2nd.floor"
	Name string `arg:"name"`
	// The share of its parent's resources, relative to its siblings.
	//
	//	shares = 50
	Shares int `arg:"shares" default:"1" min:"0" max:"1e9"`
	// The parent account.
	//
	// Default: the root of all accounts.
	//
	//	parent = "science"
	Parent string `arg:"parent"`
	// The value of its jobs in priorities (`weight_association`), relative to the greatest value.
	//
	//	priority = 10
	Priority int `arg:"priority" default:"0" min:"0" max:"1e9"`
	// The quality of service of jobs that request none.
	//
	// Default: the account's above, or `normal`.
	//
	//	default_qos = "low"
	DefaultQOS string `arg:"default_qos"`
	Limits
}

// NodeSet says more of nodes.
//
// The weight and features of some nodes.
//
//	policy "slurm" {
//	  order    = "multifactor"
//	  backfill = "periodic"
//	  node_set "fast" {
//	    names    = ["n-[1-4]"]
//	    weight   = 10
//	    features = ["ib"]
//	  }
//	}
type NodeSet struct {
	// The names of the nodes; `n-[1-16,20]` names several.
	//
	//	names = ["n-[1-4]"]
	Names []string `arg:"names,required"`
	// The weight of the nodes: jobs get nodes with lower weights first.
	//
	//	weight = 10
	Weight int `arg:"weight" default:"1" min:"0" max:"1e9"`
	// The features of the nodes, which jobs request by name. Nodes with GPUs of a type have `gpu:<type>` without it;
	// nodes whose GPUs have no type have the feature of any type, unless it is listed here.
	//
	// Default: none.
	//
	//	features = ["ib"]
	Features []string `arg:"features"`
}

//go:embed blocks.go multifactor.go periodic_arguments.go reservations.go
var source embed.FS

func init() {
	schema.Document("batch", source)
	account := schema.BlockFor[Account](schema.Block{Name: "account", Label: "name"})
	user := schema.BlockFor[Account](schema.Block{Name: "user", Label: "name"})
	user.Example, user.Doc = "", "A user of the account, with limits of this user."
	user.Args = slices.DeleteFunc(user.Args, func(a schema.Arg) bool { return a.Name == "parent" })
	account.Blocks = []*schema.Block{user}
	for _, b := range []*schema.Block{
		schema.BlockFor[Partition](schema.Block{Name: "partition", Label: "name"}),
		schema.BlockFor[QOS](schema.Block{Name: "qos", Label: "name"}),
		account, schema.BlockFor[NodeSet](schema.Block{Name: "node_set", Label: "name"}),
		schema.BlockFor[Reservation](schema.Block{Name: "reservation", Label: "name"}),
	} {
		schema.BringInto("policy", b.Name, b)
	}
}
