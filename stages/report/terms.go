package report

import (
	"html/template"
	"regexp"
	"strings"

	"github.com/tfexp/tfexp/results/table"
)

// term is a term of the field, with its meaning.
type term struct{ Name, Means string }

// terms are explained where a reader points at them, and in a list at the end of the page.
var terms = []term{
	{"baseline", "What all others are compared with."},
	{"bounded slowdown", "Completion time over run time alone, with run times of at least 10 s and a result of at least 1."},
	{"cell", "One run: a workload on a hardware under a policy, with one replicate's random numbers."},
	{"Holm", "Holm's correction: intervals are wider and p-values larger where several comparisons share a baseline."},
	{"interval", "A 95% confidence interval: it covers the true value in 95 of 100 such experiments."},
	{"Jain", "Jain's index: 1 where all jobs are slowed down alike, near 0 where one job bears all."},
	{"JCT", "Job completion time: from a job's arrival to its finish."},
	{"makespan", "From the first arrival to the last finish."},
	{"p95", "The value that 95 of 100 jobs do not exceed."},
	{"replicate", "A repetition with its own random numbers, which all that is compared shares."},
	{"slowdown", "Completion time over the run time alone."},
	{"utilization", "The share of the cores (or GPUs) that jobs held, over the makespan."},
	{"waiting time", "Time in which a job had arrived, was not finished and held nothing."},
}

var (
	termNames = func() *regexp.Regexp {
		var names []string
		for _, t := range terms {
			names = append(names, regexp.QuoteMeta(t.Name))
		}
		return regexp.MustCompile(`\b(?:` + strings.Join(names, "|") + `)`)
	}()
	meaningOf = func() map[string]string {
		all := map[string]string{}
		for _, t := range terms {
			all[t.Name] = t.Means
		}
		return all
	}()
)

// explained returns a text in which each term shows its meaning if a reader points at it or taps it.
func explained(text string) template.HTML {
	seen := map[string]bool{}
	escaped := template.HTMLEscapeString(table.Bound(text))
	return template.HTML(termNames.ReplaceAllStringFunc(escaped, func(name string) string {
		if seen[name] {
			return name
		}
		seen[name] = true
		return `<abbr tabindex="0" title="` + template.HTMLEscapeString(meaningOf[name]) + `">` + name + `</abbr>`
	}))
}

// pointed is explained for the head of a column, which has a button of its own for sorting.
func pointed(text string) template.HTML {
	return template.HTML(strings.ReplaceAll(string(explained(text)), ` tabindex="0"`, ""))
}
