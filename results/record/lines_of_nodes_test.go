package record

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/control"
)

// Lines of nodes, of jobs that moved, and of decisions of controllers.
func TestLinesByHand(t *testing.T) {
	nodes := []scheduler.Node{{Name: "a"}, {Name: "b"}}
	server := &scheduler.Server{Market: "spot", Created: 1500 * time.Millisecond}
	for _, c := range []struct {
		e    scheduler.Event
		want string
	}{
		{scheduler.Event{At: time.Second, Kind: scheduler.NodeRequest, Node: 1, Server: server}, `{"t_s":1,"event":"node_request","node":"b","market":"spot","created_s":1.5}`},
		{scheduler.Event{Kind: scheduler.NodeStart}, `{"t_s":0,"event":"node_up","node":"a"}`},
		{scheduler.Event{Kind: scheduler.NodeWarning, Until: 2 * time.Second}, `{"t_s":0,"event":"node_warned","node":"a","until_s":2,"reason":"until 2s"}`},
		{scheduler.Event{Kind: scheduler.NodeEnd, Reason: "given back"}, `{"t_s":0,"event":"node_down","node":"a","reason":"given back"}`},
	} {
		if got := string(appendNodeEvent(nil, &c.e, nodes)); got != c.want+"\n" {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	job := &scheduler.Job{Name: "j"}
	stop := &control.Decision{Action: control.Action{Stop: true}}
	change := &control.Decision{Action: control.Action{Settings: []control.Setting{{Name: "lr", Value: "0.5"}}, Reason: "it pays"},
		Settings: []control.Setting{{Name: "lr", Value: "0.5"}, {Name: "n", Value: "2"}}}
	for _, c := range []struct {
		e    scheduler.Event
		want string
	}{
		{scheduler.Event{Kind: scheduler.Resume}, `{"t_s":0,"event":"resume","job":"j","cores":""}`},
		{scheduler.Event{Kind: scheduler.Resume, Migrated: true}, `{"t_s":0,"event":"resume","job":"j","cores":"","migrated":true}`},
		{scheduler.Event{Kind: scheduler.Start, Migrated: true}, `{"t_s":0,"event":"start","job":"j","cores":""}`},
		{scheduler.Event{Kind: scheduler.Start, Beside: &cluster.Beside{Name: "k"}}, `{"t_s":0,"event":"start","job":"j","cores":"","beside":"k"}`},
		{scheduler.Event{Kind: scheduler.Decided, Control: stop}, `{"t_s":0,"event":"control","job":"j","cores":"","reason":"stop","action":"stop"}`},
		{scheduler.Event{Kind: scheduler.Decided, Control: change}, `{"t_s":0,"event":"control","job":"j","cores":"","reason":"settings: lr=0.5 (it pays)","action":"settings","settings":"lr=0.5 n=2"}`},
		{scheduler.Event{Kind: scheduler.Decided}, `{"t_s":0,"event":"control","job":"j","cores":""}`},
		{scheduler.Event{Kind: scheduler.Reconfigure, Request: 3}, `{"t_s":0,"event":"reconfigure","job":"j","cores":"","reason":"3 cores","request":3}`},
	} {
		if got := string(appendEvent(nil, &c.e, job, nodes)); got != c.want+"\n" {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
