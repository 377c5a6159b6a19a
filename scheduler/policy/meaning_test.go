package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestMeaning: testdata/meaning.txt says what each order comes to beside each other choice: what is implied, what it does,
// its key, and what is wrong with it.
func TestMeaning(t *testing.T) {
	var b strings.Builder
	write := func(p policy.Policy, set string) {
		does := ""
		for i, yes := range []bool{p.Pauses(), p.OrderPauses(), p.Partial(), p.Promises(), p.Divides(), p.Packs(), p.Estimates(),
			p.Trains(), p.DividesGPUs(), p.Batches(), p.FollowsProgress(), p.Provisioned() != nil} {
			if yes {
				does += " " + []string{"pauses", "implies it", "partial", "promises", "divides", "packs", "estimates", "trains", "divides GPUs",
					"batches", "follows", "rents"}[i]
			}
		}
		var key []string
		for _, l := range p.KeyLines() {
			key = append(key, strings.TrimPrefix(l.Label, "policy.")+" "+l.Value)
		}
		var problems []string
		for _, x := range p.Complete().Problems(func(arg string) bool { return arg == set }) {
			problems = append(problems, fmt.Sprintf("%s %v %v %.40s", x.Arg, x.Missing, x.Unread, x.Detail))
		}
		valid := "valid"
		if err := p.Validate(); err != nil {
			valid = fmt.Sprintf("%.60s", err)
		}
		fmt.Fprintf(&b, "%s | %s |%s | %s | %s | %s\n", p, p.Title(), does, strings.Join(key, ", "), strings.Join(problems, "; "), valid)
	}
	for _, order := range policy.OrderOf.Choices() {
		p := policy.Policy{Order: policy.Order(order.Name)}
		write(p, "")
		p.Settings = policy.Settings{"quantum": time.Second, "feedback": 2 * time.Second, "quanta": []string{"1s", "3s"}, "alpha": 0.5}
		write(p, "quantum")
		for _, q := range policy.Questions[1:] {
			for _, c := range q.Choices() {
				other := p
				other.Set(q, c.Name)
				write(other, string(q))
			}
		}
		p.Settings["replan"] = true
		write(p, "replan")
	}
	schedulertest.Text(t, "testdata/meaning.txt", b.String(), *update)
}
