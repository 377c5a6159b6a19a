package language

import "github.com/tfexp/tfexp/experiments/schema"

var matrixBlock = &schema.Block{
	Name: "matrix", Single: true,
	Doc: "The cells of the experiment. Without this block, every workload runs on every hardware under every policy.",
	Example: `matrix {
  workload = [workload.mixed]
  policy   = [policy.fcfs, policy.rr]
  quantum  = ["500ms", "1s"]
}`,
	Args: []schema.Arg{
		{
			Name: "workload", Type: schema.Values, DefaultDoc: "all workloads",
			Doc: "The workloads.", Example: `[workload.mixed]`,
		},
		{
			Name: "hardware", Type: schema.Values, DefaultDoc: "all hardware",
			Doc: "The hardware.", Example: `[hardware.here]`,
		},
		{
			Name: "policy", Type: schema.Values, DefaultDoc: "all policies",
			Doc: "The policies.", Example: `[policy.fcfs, policy.rr]`,
		},
	},
	Free: axisArg,
	Blocks: []*schema.Block{
		{
			Name: "zip",
			Doc: "Axes that advance together: the first values, then the second values, and so on. Their lists " +
				"have the same length.",
			Args: []schema.Arg{
				{
					Name: "workload", Type: schema.Values,
					Doc: "The workloads.", Example: `[workload.light, workload.heavy]`,
				},
				{
					Name: "hardware", Type: schema.Values,
					Doc: "The hardware.", Example: `[hardware.small, hardware.large]`,
				},
				{Name: "policy", Type: schema.Values, Doc: "The policies.", Example: `[policy.fcfs, policy.rr]`},
			},
			Free: axisArg,
		},
		{
			Name: "include",
			Doc: "One more point. If it does not set workload, hardware or policy, it stands for all their " +
				"values in the matrix.",
			Args: []schema.Arg{
				{Name: "workload", Type: schema.WorkloadRef, Doc: "The workload.", Example: `workload.mixed`},
				{Name: "hardware", Type: schema.HardwareRef, Doc: "The hardware.", Example: `hardware.here`},
				{Name: "policy", Type: schema.PolicyRef, Doc: "The policy.", Example: `policy.rr`},
			},
			Free: &schema.Arg{Name: "<axis>", Type: schema.Any, Doc: "The value of an axis.", Example: `"5s"`},
		},
		{
			Name: "exclude", Doc: "Points to leave out.",
			Args: []schema.Arg{
				{
					Name: "when", Type: schema.Condition, Required: true,
					Doc: "True for the points to leave out. It can read `each.<axis>`, also `each.workload`, " +
						"`each.hardware` and `each.policy`, and `workload.name`, `hardware.name` and " +
						"`policy.name` of the point.",
					Example: `policy.name == "rr" && each.quantum == "5s"`,
				},
			},
		},
	},
}

var axisArg = &schema.Arg{
	Name: "<axis>", Type: schema.Values,
	Doc:     "The values of your own axis, read as `each.<axis>` in job, workload, hardware and policy blocks.",
	Example: `["500ms", "1s"]`,
}
