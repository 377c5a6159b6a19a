package language

import "github.com/tfexp/tfexp/experiments/schema"

// referenceBlock names numbers of others, to be shown beside those of the experiment.
func referenceBlock() *schema.Block {
	return &schema.Block{
		Name: "reference", Label: "name of the reference, for the report", Unique: true,
		Doc: "Numbers of others, such as those of a paper, beside ours: a CSV file whose first line names its columns. " +
			"Columns called `workload`, `hardware`, `policy`, `replicate` or as an axis of the matrix say of which cells a " +
			"row is; an empty field, or a column that is not there, stands for all. Columns called as metrics have the " +
			"numbers. The report shows them beside the means over these cells (references.csv).",
		Example: `reference "paper" {
  file = "paper.csv"
  doc  = "Table 2"
}`,
		Args: []schema.Arg{
			{Name: "file", Type: schema.String, Required: true,
				Doc: "The CSV file, relative to the folder of the experiment file.", Example: `"paper.csv"`},
			{Name: "columns", Type: schema.StringMap,
				Doc:     "The columns that are called otherwise, by what they hold.",
				Example: `{ makespan_s = "duration", servers = "cluster" }`},
			{Name: "where", Type: schema.StringMap, DefaultDoc: "all rows",
				Doc:     "The texts of columns by which rows count; these columns say nothing else.",
				Example: `{ instance = "v100" }`},
			{Name: "relative_to", Type: schema.PolicyRef, DefaultDoc: "the numbers are those of the metrics",
				Doc: "The numbers are parts of those of this policy, as papers often say it: 0.7 is 30% less. Ours is the " +
					"mean over the cells divided by that over the cells of this policy at the same values of the other axes.",
				Example: `policy.fcfs`},
			{Name: "doc", Type: schema.String, Doc: "A sentence for the report: where the numbers are from.",
				Example: `"Means of the authors' own tables."`},
		},
	}
}
