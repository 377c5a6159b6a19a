package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
	_ "github.com/tfexp/tfexp/stages/all"
)

func TestKinds(t *testing.T) {
	if diff := cmp.Diff([]string{"process", "simulated", "docker", "recorded", "slurm", "kubernetes"}, engine.Names(nil)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"process", "docker", "slurm", "kubernetes"}, engine.Names(func(k *engine.Kind) bool { return k.Real })); diff != "" {
		t.Error(diff)
	}
	for _, k := range engine.Kinds() {
		if engine.Find(k.Name) != k {
			t.Errorf("%s is not found", k.Name)
		}
		for _, arg := range slices.Concat(k.Args, k.NodeArgs) {
			if arg.Doc == "" || arg.Example == "" {
				t.Errorf("%s: the argument %s lacks a documentation or an example", k.Name, arg.Name)
			}
		}
	}
	if engine.Find("podman") != nil {
		t.Error("an engine that is not there is found")
	}
}

// Registering an incomplete kind of engine panics when the program starts, so the mistake is not found only when an
// experiment uses the kind.
func TestRegisterRefuses(t *testing.T) {
	capabilities := func(*engine.Hardware) scheduler.Capabilities { return scheduler.Capabilities{} }
	simulate := func(engine.Simulation) (scheduler.Engine, error) { return nil, nil }
	open := func(engine.Run) (engine.Session, []string, error) { return nil, nil, nil }
	for name, k := range map[string]engine.Kind{
		"no name":          {Doc: "runs nothing", Capabilities: capabilities, Simulate: simulate},
		"no documentation": {Name: "a", Capabilities: capabilities, Simulate: simulate},
		"no capabilities":  {Name: "a", Doc: "runs nothing", Simulate: simulate},
		"no Simulate":      {Name: "a", Doc: "runs nothing", Capabilities: capabilities, Open: open},
		"no Open":          {Name: "a", Doc: "runs nothing", Capabilities: capabilities, Traits: engine.Traits{Real: true}},
		"no Images": {Name: "a", Doc: "runs nothing", Capabilities: capabilities, Open: open,
			Traits: engine.Traits{Real: true, Contained: true}},
		"a name twice": {Name: "docker", Doc: "runs nothing", Capabilities: capabilities, Simulate: simulate},
		"another type": {
			Name: "a", Doc: "runs nothing", Capabilities: capabilities, Simulate: simulate,
			Args: []schema.Arg{{Name: "noise", Type: schema.Duration}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was registered")
				}
			}()
			engine.Register(&k)
		})
	}
}

// Errors in settings of containers are reported at the lines of the settings.
func TestProblems(t *testing.T) {
	k := engine.Find("docker")
	values := func(set map[string]any) engine.Values {
		v := engine.Values{All: set, Set: map[string]bool{}}
		for name := range set {
			v.Set[name] = true
		}
		return v
	}
	_, problems := k.Decode(engine.Block{
		Values: values(map[string]any{"platform": "amd64", "host": "tcp://a:1"}),
		Nodes: []engine.NodeBlock{
			{Name: "a", Count: 2, Values: values(nil)},
			{Name: "b", Count: 1, Values: values(map[string]any{"host": "node1"})},
			{Name: "c", Count: 1, Values: values(map[string]any{"host": "node1"})},
		},
	})
	type at struct {
		Node         int
		Arg, Summary string
	}
	var got []at
	for _, p := range problems {
		got = append(got, at{p.Node, p.Arg, p.Summary})
	}
	want := []at{
		{0, "platform", "Not a platform"}, {0, "host", "Contradicting arguments"},
		{2, "host", "Not a Docker host"}, {3, "host", "Not a Docker host"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// If the daemon does not answer, the engine is unavailable, and a hint says what to do.
func TestMissingDaemon(t *testing.T) {
	k := engine.Find("docker")
	settings, problems := k.Decode(engine.Block{Values: engine.Values{All: map[string]any{"host": "unix:///no/such/socket"}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	h := &engine.Hardware{Name: "h", Kind: k, Settings: settings,
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}}}
	found, err := k.Images(context.Background(), []engine.ImageNeed{{Hardware: h, Image: "a"}, {Hardware: h,
		Image: "b"}}, false)
	missing, ok := err.(*engine.Unavailable)
	if !ok || missing.Engine != "docker" || missing.Hint == "" || !slices.Equal(found, []string{"", ""}) {
		t.Errorf("found %q, %v", found, err)
	}
}
