package gavel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/gavel/shares"
)

// TestBadPrices checks that a price is positive and is of a type that the hardware has, and that the type of a blind
// policy exists too.
func TestBadPrices(t *testing.T) {
	for _, k := range shares.All() {
		if !k.Prices {
			continue
		}
		for text, ok := range map[string]bool{"v100=1.5": true, " v100 = 2 ": true, "v100=0": false, "v100=-1": false, "v100=Inf": false,
			"v100=NaN": false, "v100": false, "t4=1": false} {
			jobs := []scheduler.Job{{Name: "a", Threads: 1, GPUs: 1, Predicted: time.Second, Deadline: scheduler.Never}}
			engine, err := simulated.New(jobs, []simulated.Scaling{simulated.FullRequest(time.Second, 1)}, simulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = scheduler.Run{Policy: policy.Policy{Order: k.Name, Settings: policy.Settings{
				"rounds": time.Second, "prices": []string{text},
			}}, Cluster: clusterOf(1), Jobs: jobs, Engine: engine}.Execute(t.Context())
			if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "is not the price of a type of device") {
				t.Errorf("%s with the price %q: %v", k.Name, text, err)
			}
		}
	}
}
