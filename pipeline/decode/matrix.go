package decode

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
)

// matrixArgs are the arguments of the matrix block except its own axes.
//
// The combinations that the experiment runs. Without this block, every workload runs on every hardware under every
// policy.
//
//	matrix {
//	  workload = [workload.mixed]
//	  policy   = [policy.fcfs, policy.rr]
//	  quantum  = ["500ms", "1s"]
//	}
type matrixArgs struct {
	// The workloads to combine.
	//
	// Default: all workloads.
	//
	//	workload = [workload.mixed]
	Workload cty.Value `arg:"workload" type:"values"`
	// The hardware to combine.
	//
	// Default: all hardware.
	//
	//	hardware = [hardware.here]
	Hardware cty.Value `arg:"hardware" type:"values"`
	// The policies to combine.
	//
	// Default: all policies.
	//
	//	policy = [policy.fcfs, policy.rr]
	Policy cty.Value `arg:"policy" type:"values"`
}

// zipArgs are the arguments of a zip block.
//
// Axes that advance together: the first values, then the second values, and so on. Their lists have the same
// length.
type zipArgs struct {
	// The workloads to combine.
	//
	//	workload = [workload.light, workload.heavy]
	Workload cty.Value `arg:"workload" type:"values"`
	// The hardware to combine.
	//
	//	hardware = [hardware.small, hardware.large]
	Hardware cty.Value `arg:"hardware" type:"values"`
	// The policies to combine.
	//
	//	policy = [policy.fcfs, policy.rr]
	Policy cty.Value `arg:"policy" type:"values"`
}

// includeArgs are the arguments of an include block.
//
// Adds one more combination. If it does not set workload, hardware or policy, it means all their values in the matrix.
type includeArgs struct {
	// The workload.
	//
	//	workload = workload.mixed
	Workload string `arg:"workload" type:"workload"`
	// The hardware to combine.
	//
	//	hardware = hardware.here
	Hardware string `arg:"hardware" type:"hardware"`
	// The policy.
	//
	//	policy = policy.rr
	Policy string `arg:"policy" type:"policy"`
}

// excludeArgs are the arguments of an exclude block.
//
// Combinations to leave out.
type excludeArgs struct {
	// True for the combinations to leave out. It can read `each.<axis>`, also `each.workload`, `each.hardware` and
	// `each.policy`, and `workload.name`, `hardware.name` and `policy.name` of the point.
	//
	//	when = policy.name == "rr" && each.quantum == "5s"
	When cty.Value `arg:"when,required" type:"condition"`
}

func matrixBlock() *schema.Block {
	axis := &schema.Arg{
		Name: "<axis>", Type: schema.Values,
		Doc:     "The values of your own axis, read as `each.<axis>` in job, workload, hardware and policy blocks.",
		Example: `["500ms", "1s"]`,
	}
	value := &schema.Arg{Name: "<axis>", Type: schema.Any, Doc: "The value of your own axis.", Example: `"5s"`}
	b := schema.BlockFor[matrixArgs](schema.Block{Name: "matrix", Single: true, Free: axis})
	b.Blocks = []*schema.Block{
		schema.BlockFor[zipArgs](schema.Block{Name: "zip", Free: axis}),
		schema.BlockFor[includeArgs](schema.Block{Name: "include", Free: value}),
		schema.BlockFor[excludeArgs](schema.Block{Name: "exclude"}),
	}
	return b
}
