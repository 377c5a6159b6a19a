package language

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// RunTimeLaw is a feature's block in runtime blocks that defines how long a job takes in simulation. It stores its
// values as a part of the run time; package stages has the methods of such parts.
type RunTimeLaw struct {
	// Name is the name of the block. Block describes the block.
	Name  string
	Block func() *schema.Block
	// Doc describes the block for the reference: "an `elastic` block says how a job trains whose GPUs change".
	Doc string
	// Reads are the arguments of the runtime block that the law uses, besides the start-up time and the final values.
	Reads []string
	// Decode decodes a block of this name into a run time, which already has the start-up time and the arguments in
	// Reads. around is the runtime block; the job's other arguments are decoded.
	Decode func(d *Decoder, n *eval.Node, around Block, j *experiment.Job, into *experiment.Runtime) bool
}

var laws []RunTimeLaw

// RegisterRunTimeLaw registers a law. It panics if a law with the same block name exists.
func RegisterRunTimeLaw(l RunTimeLaw) {
	Extend(l.Name, Runtime, Extension[experiment.Runtime]{
		Blocks: func() []*schema.Block { return []*schema.Block{l.Block()} },
	})
	laws = append(laws, l)
	slices.SortFunc(laws, func(a, b RunTimeLaw) int { return cmp.Compare(a.Name, b.Name) })
}

// LawIn returns the law whose block the runtime block has; nil if it has none. It reports an error if there are blocks
// of several laws.
func (d *Decoder) LawIn(a *eval.Args) (law *RunTimeLaw, n *eval.Node) {
	for i := range laws {
		switch own := a.Node.First(laws[i].Name); {
		case own == nil:
		case law != nil:
			a.Fail(own.Header, "Contradicting blocks", "The %s block and the %s block both set the run time of the job: keep one.",
				law.Name, laws[i].Name)
		default:
			law, n = &laws[i], own
		}
	}
	return law, n
}

// LawBlocks lists the blocks of all laws, such as "a cluster block".
func LawBlocks() []string {
	return schema.Each(laws, func(l RunTimeLaw) string {
		article := "a"
		if strings.ContainsAny(l.Name[:1], "aeiou") {
			article = "an"
		}
		return fmt.Sprintf("%s %s block", article, l.Name)
	})
}

// LawDocs describes the blocks of all laws in a sentence for the reference.
func LawDocs() string {
	if len(laws) == 0 {
		return ""
	}
	return " Or " + strings.Join(schema.Each(laws, func(l RunTimeLaw) string { return l.Doc }), ", or ") + "."
}

// RunTimeTable is an argument of runtime blocks that, like table, gives run times on several numbers of threads.
type RunTimeTable struct {
	// Name is the name of the argument. Args describes the argument, followed by the arguments that belong to it.
	Name string
	Args func() []schema.Arg
	// Doc describes the argument for the reference: "a CSV `file` with two columns".
	Doc string
	// Decode returns the run times, sorted by threads. If the argument has an error, it reports it and returns nothing.
	Decode func(d *Decoder, around Block) []experiment.ThreadTime
}

var tables []RunTimeTable

// RegisterRunTimeTable registers an argument with run times.
func RegisterRunTimeTable(t RunTimeTable) {
	Extend(t.Name, Runtime, Extension[experiment.Runtime]{Args: t.Args, Before: "per"})
	tables = append(tables, t)
}

// TableIn returns the argument with run times that a runtime block has; nil if it has none.
func TableIn(a *eval.Args) *RunTimeTable {
	for i := range tables {
		if a.IsSet(tables[i].Name) {
			return &tables[i]
		}
	}
	return nil
}

// TableNames lists the arguments with run times, without table. TableArgs lists the arguments that belong to them.
func TableNames() []string { return schema.Each(tables, func(t RunTimeTable) string { return t.Name }) }
func TableArgs() (names []string) {
	for _, t := range tables {
		names = append(names, schema.Names(t.Args()[1:])...)
	}
	return names
}

// RefuseTables reports arguments without effect: they belong to an argument with run times that the block lacks.
func RefuseTables(a *eval.Args) {
	for _, t := range tables {
		a.Unread("{} belongs to "+t.Name+", which is not set.", schema.Names(t.Args()[1:])...)
	}
}

// TableDocs describes the arguments with run times, in a part of a sentence for the reference.
func TableDocs() (text string) {
	for _, t := range tables {
		text += ", or " + t.Doc
	}
	return text
}
