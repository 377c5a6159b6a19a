package train

import (
	"net"
	"testing"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/program"
)

// The chief ends the servers one after the other. To a worker that asks in between, the
// first server replies that the training continues, so the worker asks again.
func TestOneServerIsOverBeforeTheFirst(t *testing.T) {
	var tm team
	defer tm.close()
	tm.resize(1)
	tr := newTrainer(configOf(t, "softmax"), &tm)
	c := &cluster{run: &run{env: program.Env{Part: contract.Part{
		Cluster: map[string][]string{contract.RoleServer: {"first", "second"}},
	}}}, tr: tr}
	half := tr.state.Weights[:len(tr.state.Weights)/2]
	serve := func(a Reply, values ...[]float64) {
		here, there := net.Pipe()
		c.links = append(c.links, NewLink(here))
		go func() {
			defer there.Close()
			server := NewLink(there)
			var q Request
			if _, err := server.Receive(&q, 0); err == nil {
				_ = server.Send(a, values...)
			}
		}()
	}
	serve(Reply{Ready: true}, half)
	serve(Reply{Ready: true, Finished: true})
	defer c.close()
	a, err := c.exchange(nil)
	if err != nil || a.Ready || a.Finished {
		t.Errorf("the worker is told %+v, %v; want an answer that is not ready", a, err)
	}
}
