package market_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// lasting is a life that is the same for all servers.
func lasting(d time.Duration) market.Life {
	return &market.Measured{Name: "lasting", Times: []time.Duration{d}, Survivals: []float64{0}}
}

func fleet(t *testing.T, terms ...*market.Terms) *market.Fleet {
	t.Helper()
	c := scheduler.Cluster{}
	for i := range terms {
		c.Nodes = append(c.Nodes, scheduler.Node{Name: string(rune('a' + i)), Threads: 1})
	}
	f, err := market.NewFleet(c, terms, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const forever = market.Forever

// TestServersComeAndGo follows two servers on paper. The first starts in 2 s and lives 10 s, with notice 3 s before its
// end; the second starts at once and may live 5 s, with a notice as long as that.
func TestServersComeAndGo(t *testing.T) {
	const s = time.Second
	f := fleet(t,
		&market.Terms{Market: market.Spot, Startup: workload.Span{Mean: 2 * s}, Life: lasting(10 * s), Warning: 3 * s},
		&market.Terms{Market: market.Spot, MaxLife: 5 * s, Warning: 8 * s},
		nil, // a permanent node
	)
	if at := f.Next(); at != forever {
		t.Errorf("something happens at %s, before there is a server", at)
	}
	for node, want := range []scheduler.Server{{Created: s, Market: market.Spot}, {Created: 4 * s, Market: market.Spot}} {
		if got := f.Acquire(node, want.Created); got == nil || *got != want {
			t.Errorf("server of node %d: %+v, want %+v", node, got, want)
		}
	}
	if got := f.Take(2*s, nil); len(got) > 0 || f.Next() != 3*s {
		t.Errorf("by 2 s: %v, and the next is at %s", got, f.Next())
	}
	want := []scheduler.Notice{
		{Kind: scheduler.NodeUp, At: 3 * s, Node: 0},
		{Kind: scheduler.NodeUp, At: 4 * s, Node: 1},
		{Kind: scheduler.NodeWarned, At: 4*s + 1, Node: 1, Until: 9 * s},
		{Kind: scheduler.NodeDown, At: 9 * s, Node: 1},
		{Kind: scheduler.NodeWarned, At: 10 * s, Node: 0, Until: 13 * s},
		{Kind: scheduler.NodeDown, At: 13 * s, Node: 0},
	}
	before := scheduler.Notice{Kind: scheduler.JobEnded, At: 99 * s}
	got := f.Take(13*s, []scheduler.Notice{before})
	if diff := cmp.Diff(append([]scheduler.Notice{before}, want...), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if at := f.Next(); at != forever {
		t.Errorf("after all: something happens at %s", at)
	}
	// A server that is returned is not revoked later.
	f.Acquire(0, 20*s)
	f.Release(0)
	if got := f.Take(forever-1, nil); len(got) > 0 {
		t.Errorf("after it was given back: %v", got)
	}
}

// TestNoticesNeedTime: a server that lives a nanosecond gets no notice, and a shorter life counts as a nanosecond.
func TestNoticesNeedTime(t *testing.T) {
	for _, life := range []time.Duration{0, 1} {
		f := fleet(t, &market.Terms{Market: market.Spot, Life: lasting(life), Warning: time.Second})
		f.Acquire(0, 0)
		want := []scheduler.Notice{{Kind: scheduler.NodeUp}, {Kind: scheduler.NodeDown, At: 1}}
		if diff := cmp.Diff(want, f.Take(time.Hour, nil)); diff != "" {
			t.Errorf("a life of %s (-want +got):\n%s", life, diff)
		}
	}
}

// TestWhatReplacesALostServer: when the next server is created, in which market, and when no more servers are created.
func TestWhatReplacesALostServer(t *testing.T) {
	const h = time.Hour
	spot := func(change func(t *market.Terms)) *market.Terms {
		terms := &market.Terms{Market: market.Spot, Life: lasting(h), Delay: time.Minute}
		change(terms)
		return terms
	}
	for name, c := range map[string]struct {
		terms   *market.Terms
		markets []string
	}{
		"the same":  {spot(func(t *market.Terms) {}), []string{market.Spot, market.Spot, market.Spot}},
		"nothing":   {spot(func(t *market.Terms) { t.Replace = market.Never }), []string{market.Spot, ""}},
		"one more":  {spot(func(t *market.Terms) { t.Limit = 1 }), []string{market.Spot, market.Spot, ""}},
		"on demand": {spot(func(t *market.Terms) { t.Replace = market.WithOnDemand }), []string{market.Spot, market.OnDemand}},
		"on demand, after a limit on spot": {spot(func(t *market.Terms) {
			t.Replace, t.MaxLife, t.Life = market.WithOnDemand, h, nil
		}), []string{market.Spot, market.OnDemand}},
	} {
		f := fleet(t, c.terms)
		now := time.Duration(0)
		for i, want := range c.markets {
			created := now
			if i > 0 {
				created += time.Minute
			}
			from := f.From(0, now)
			got := f.Acquire(0, now)
			if want == "" {
				if got != nil || from != forever {
					t.Errorf("%s: server %d is %+v, and could be had from %s", name, i+1, got, from)
				}
				break
			}
			if got == nil || got.Market != want || got.Created != created || from != created {
				t.Fatalf("%s: server %d is %+v, from %s; want one of %s at %s", name, i+1, got, from, want, created)
			}
			end := f.Take(forever-1, nil)
			if last := end[len(end)-1]; want == market.OnDemand {
				if last.Kind != scheduler.NodeUp {
					t.Errorf("%s: a server on demand was taken away: %v", name, end)
				}
			} else if last.Kind != scheduler.NodeDown || last.At != created+h {
				t.Errorf("%s: server %d went as %v, want at %s", name, i+1, end, created+h)
			}
			now = created + h
		}
		// Long after the loss, the new server is created without a delay.
		if name == "the same" && f.From(0, now+h) != now+h {
			t.Errorf("%s: an hour after the loss, the next can be had from %s", name, f.From(0, now+h))
		}
	}
}

// A record of two servers from 10 to 20 s, one until 30 s, none until 40 s, and one from then on.
var record = &market.Availability{
	Times:   []time.Duration{10e9, 15e9, 20e9, 30e9, 40e9},
	Servers: []int{2, 2, 1, 0, 1},
}

func TestRecordsOfAvailability(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		at   time.Duration
		have int
		next time.Duration
	}{
		{0, 0, 10 * s}, {10 * s, 2, 20 * s}, {15 * s, 2, 20 * s}, {20 * s, 1, 30 * s}, {30*s - 1, 1, 30 * s},
		{30 * s, 0, 40 * s}, {40 * s, 1, forever},
	} {
		if have, next := record.At(c.at), record.Next(c.at); have != c.have || next != c.next {
			t.Errorf("at %s: %d until %s, want %d until %s", c.at, have, next, c.have, c.next)
		}
	}
	if err := record.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		record market.Availability
		want   string
	}{
		{market.Availability{}, "the record of availability is empty"},
		{market.Availability{Times: []time.Duration{s}}, "the record of availability is empty"},
		{market.Availability{Times: []time.Duration{s, s}, Servers: []int{1, 1}}, "the time 1s does not come after 1s"},
		{market.Availability{Times: []time.Duration{2 * s, s}, Servers: []int{1, 1}}, "the time 1s does not come after 2s"},
		{market.Availability{Times: []time.Duration{s, 2 * s}, Servers: []int{0, -1}}, "-1 servers at 2s"},
	} {
		if err := c.record.Check(); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.record, err, c.want)
		}
	}
}

// TestServersOfARecord: the node of slot 0 has a server while at least one is available, and the node of slot 1 while
// at least two are. A server that would be gone before it has started is not created.
func TestServersOfARecord(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		slot              int
		startup           time.Duration
		from              time.Duration
		created, up, gone time.Duration
	}{
		{0, 2 * s, 0, 10 * s, 12 * s, 30 * s},
		{0, 2 * s, 12 * s, 12 * s, 14 * s, 30 * s},
		{1, 2 * s, 0, 10 * s, 12 * s, 20 * s},
		{1, 10 * s, 0, forever, 0, 0}, // it would be gone at the instant of its start
		{0, 20 * s, 0, 40 * s, 60 * s, forever},
		{1, s, 20 * s, forever, 0, 0},
		{0, s, 29 * s, 40 * s, 41 * s, forever},
	} {
		f := fleet(t, &market.Terms{Market: market.Spot, Availability: record, Slot: c.slot,
			Startup: workload.Span{Mean: c.startup}})
		if from := f.From(0, c.from); from != c.created {
			t.Errorf("%+v: a server can be had from %s", c, from)
		}
		got := f.Acquire(0, c.from)
		if c.created == forever {
			if got != nil {
				t.Errorf("%+v: a server at %s", c, got.Created)
			}
			continue
		}
		if got == nil || got.Created != c.created {
			t.Errorf("%+v: got %+v", c, got)
			continue
		}
		want := []scheduler.Notice{{Kind: scheduler.NodeUp, At: c.up}}
		if c.gone < forever {
			want = append(want, scheduler.Notice{Kind: scheduler.NodeDown, At: c.gone})
		}
		if diff := cmp.Diff(want, f.Take(forever-1, nil)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
	// Another server of the same kind also follows the record.
	f := fleet(t, &market.Terms{Market: market.Spot, Availability: record, Slot: 1})
	f.Acquire(0, 0)
	f.Take(20*s, nil)
	if from := f.From(0, 20*s); from != forever {
		t.Errorf("a second server can be had from %s", from)
	}
	// A replacement on demand does not follow the record.
	f = fleet(t, &market.Terms{Market: market.Spot, Availability: record, Slot: 1, Replace: market.WithOnDemand,
		Delay: s})
	f.Acquire(0, 0)
	f.Take(20*s, nil)
	if from := f.From(0, 20*s); from != 21*s {
		t.Errorf("on demand: can be had from %s, want 21s", from)
	}
	if got := f.Acquire(0, 20*s); got == nil || *got != (scheduler.Server{Created: 21 * s, Market: market.OnDemand}) {
		t.Errorf("on demand: %+v", got)
	}
}

// Each replicate has the next of several records, and the terms that the replicates share stay as they are.
func TestRecordsOfReplicates(t *testing.T) {
	other := &market.Availability{Times: []time.Duration{0}, Servers: []int{1}}
	several := &market.Terms{Market: market.Spot, Availability: record, Windows: []*market.Availability{record, other}}
	one := &market.Terms{Market: market.Spot, Availability: record}
	for replicate, want := range map[int]*market.Availability{0: record, 1: record, 2: other, 3: record} {
		got := market.ForReplicate([]*market.Terms{nil, several, one}, replicate)
		if got[0] != nil || got[1].Availability != want || got[2] != one || several.Windows == nil {
			t.Errorf("replicate %d: %+v", replicate, got)
		}
	}
	if all := []*market.Terms{one, nil}; &market.ForReplicate(all, 2)[0] != &all[0] {
		t.Error("terms without several records are copied")
	}
}

// TestMeanLives: the mean life counts each life only up to the limit. A job that holds several nodes is lost as often
// as all of these nodes together.
func TestMeanLives(t *testing.T) {
	const h = time.Hour
	exponential := market.Exponential{Mean: h}
	for name, c := range map[string]struct {
		terms market.Terms
		want  time.Duration
	}{
		"on demand":           {market.Terms{}, forever},
		"a limit":             {market.Terms{MaxLife: h}, h},
		"a record":            {market.Terms{Availability: record, MaxLife: h}, forever},
		"exponential":         {market.Terms{Life: exponential}, h},
		"exponential, limit":  {market.Terms{Life: exponential, MaxLife: h}, 2275563 * time.Millisecond},
		"of a curve":          {market.Terms{Life: lasting(72 * h)}, 72 * h},
		"of a curve, limit":   {market.Terms{Life: lasting(72 * h), MaxLife: 24 * h}, 24 * h},
		"longer than a month": {market.Terms{Life: lasting(2400 * h)}, 720 * h},
	} {
		if got := c.terms.MeanLife(); math.Abs(float64(got-c.want)) > 1e-3*float64(c.want) {
			t.Errorf("%s: the mean life is %s, want %s", name, got, c.want)
		}
	}
	f := fleet(t, &market.Terms{Life: exponential}, nil, &market.Terms{Life: market.Exponential{Mean: 3 * h}},
		&market.Terms{})
	for _, c := range []struct {
		nodes []int
		want  time.Duration
	}{
		{[]int{0}, h}, {[]int{0, 1, 2, 3}, 45 * time.Minute}, {[]int{1, 3}, forever}, {nil, forever},
	} {
		if got := f.Between(c.nodes); math.Abs(float64(got-c.want)) > 1 {
			t.Errorf("between losses of %v: %s, want %s", c.nodes, got, c.want)
		}
	}
}

func TestPricesOfMarkets(t *testing.T) {
	terms := market.Terms{Market: market.Spot, Price: market.Fixed(1), OnDemand: market.Fixed(3)}
	for kind, want := range map[string]float64{market.Spot: 1, market.OnDemand: 3} {
		if got := terms.PriceIn(kind).At(0); got != want {
			t.Errorf("%s: %g", kind, got)
		}
	}
	if terms.Market = market.OnDemand; terms.PriceIn(market.OnDemand).At(0) != 1 {
		t.Error("a server on demand has another price than its terms say")
	}
	if _, err := market.NewFleet(scheduler.Cluster{}, []*market.Terms{nil}, 1); err == nil {
		t.Error("terms of more nodes than there are")
	}
}
