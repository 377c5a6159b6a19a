package strategies_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/stages/servers/rental"
	"github.com/tfexp/tfexp/stages/servers/strategies"
)

// provisionAt returns the view of a job with 40 h of work and a deadline after 60 h. Ticks and starts take 1 h.
func provisionAt(now, done float64, held rental.Market, available bool) rental.View {
	hours := func(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }
	return rental.View{Work: hours(40), Deadline: hours(60), Overhead: time.Hour, Tick: time.Hour, Now: hours(now), Done: hours(done),
		Held: held, Available: available}
}

// TestDecisionsByHand: even progress has done 2/3 of the passed time. When only two more starts fit before the
// deadline, no strategy waits.
func TestDecisionsByHand(t *testing.T) {
	const nothing, spot, demand = rental.Nothing, rental.Spot, rental.OnDemand
	starting := provisionAt(56, 37, spot, true)
	starting.Starting = time.Minute
	for _, c := range []struct {
		name string
		view rental.View
		even rental.Market
	}{
		{"a spot server", provisionAt(30, 15, nothing, true), spot},
		{"ahead", provisionAt(30, 21, nothing, false), nothing},
		{"even", provisionAt(30, 20, nothing, false), nothing},
		{"behind", provisionAt(30, 19.9, nothing, false), demand},
		{"behind by 2 h", provisionAt(30, 18, nothing, false), demand},
		{"far behind", provisionAt(30, 17.9, nothing, false), demand},
		{"early and behind by 3.5 h", provisionAt(6, 0.5, nothing, false), demand},
		{"early and behind by 4 h", provisionAt(6, 0.3, nothing, false), demand},
		{"on demand and behind", provisionAt(30, 19, demand, false), demand},
		{"on demand and even", provisionAt(30, 20, demand, false), demand},
		{"on demand and ahead", provisionAt(30, 20.5, demand, false), demand},
		{"on demand, a spot server, ahead by a start", provisionAt(30, 20.7, demand, true), demand},
		{"on demand, a spot server, ahead by two starts", provisionAt(30, 21.34, demand, true), spot},
		{"on demand, a spot server, as late as two starts", provisionAt(30, 12, demand, true), demand},
		{"on demand, a spot server, time for two starts", provisionAt(30, 12.1, demand, true), demand},
		{"on demand, a spot server, time for more", provisionAt(30, 13.1, demand, true), demand},
		{"time for two starts", provisionAt(50, 32, nothing, true), demand},
		{"time for three", provisionAt(50, 33.1, nothing, true), spot},
		{"time for two, on a spot server", provisionAt(50, 32, spot, true), spot},
		{"time for one, on a spot server", provisionAt(50, 31, spot, true), spot},
		{"time for one, on a spot server that starts", starting, demand},
		{"time for one, the spot server is lost", provisionAt(50, 31, nothing, false), demand},
	} {
		if got := strategies.UniformProgress(c.view); got != c.even {
			t.Errorf("%s: uniform progress rents %v, want %v", c.name, got, c.even)
		}
		if got := strategies.Patient(c.view); strings.HasPrefix(c.name, "time for") && got != c.even {
			t.Errorf("%s: patient rents %v, want %v", c.name, got, c.even)
		}
	}
}

// TestPatientLearns: a job of 40 h in 60 h, whose starts take 40 minutes, has seen spells of some ticks of 10 minutes.
func TestPatientLearns(t *testing.T) {
	const nothing, spot, demand = rental.Nothing, rental.Spot, rental.OnDemand
	for _, c := range []struct {
		name         string
		there, away  int // ticks of each spell so far
		now, done    float64
		available    bool
		since        int // ticks since the present spell began
		held, choice rental.Market
	}{
		{"spot servers stay", 60, 20, 20, 10, true, 0, nothing, spot},
		{"spot servers go before they have started", 1, 20, 20, 10, true, 0, nothing, nothing},
		{"but this one has stayed", 1, 20, 20, 10, true, 30, nothing, spot},
		{"one will be back soon", 60, 4, 20, 8, false, 1, nothing, nothing},
		{"some slack is kept for those that will be back", 60, 60, 30, 12.22, false, 5, nothing, demand},
		{"on demand, a spot server that stays", 60, 20, 30, 15, true, 0, demand, spot},
		{"on demand, a spot server that goes", 1, 20, 30, 14, true, 0, demand, demand},
	} {
		v := provisionAt(c.now, c.done, c.held, c.available)
		v.Tick, v.Overhead = 10*time.Minute, 40*time.Minute
		for i := range 10 {
			v.Spells = append(v.Spells, rental.Availability{Available: (i%2 == 0) != c.available,
				Length: v.Tick * time.Duration([]int{c.there, c.away}[(i+bit(c.available))%2])})
		}
		v.Spells = append(v.Spells, rental.Availability{Available: c.available, Length: v.Tick * time.Duration(c.since)})
		if got := strategies.Patient(v); got != c.choice {
			t.Errorf("%s: patient rents %v, want %v", c.name, got, c.choice)
		}
	}
	unknown := provisionAt(0, 0, nothing, true)
	if unknown.Work = rental.UnknownWork; strategies.Patient(unknown) != demand {
		t.Error("a job of unknown length waits or relies on a spot server")
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scripted is a strategy whose choices are a list.
type scripted []rental.Market

func (s scripted) Choose(v rental.View) rental.Market { return s[int(v.Now/v.Tick)] }

// TestReplayByHand: each start costs an hour and a half of work, ticks are paid whole, and lost work starts again.
func TestReplayByHand(t *testing.T) {
	const nothing, spot, demand = rental.Nothing, rental.Spot, rental.OnDemand
	v := provisionAt(0, 0, nothing, true)
	v.Work, v.Overhead, v.Deadline = 4*time.Hour, 90*time.Minute, 12*time.Hour
	away := func(tick int) bool { return tick != 3 && tick != 4 }
	choices := scripted{nothing, spot, spot, spot, spot, demand, demand, spot, spot, spot, spot, spot}
	// done by the end of each tick: 0 0 0.5 0.5 0.5 0.5 1 1 1.5 2.5 3.5 4.5
	out := replayRental(choices, v, away)
	want := []rental.Market{nothing, spot, spot, nothing, nothing, demand, demand, spot, spot, spot, spot, spot}
	if !slices.Equal(out.Choices, want) || out.Starts != 3 || out.Spot != 7*time.Hour || out.OnDemand != 2*time.Hour ||
		!out.Met || out.Done != 12*time.Hour {
		t.Errorf("%+v", out)
	}
	v.Deadline = 11 * time.Hour
	if out := replayRental(choices, v, away); out.Met || out.Done != 11*time.Hour || len(out.Choices) != 11 {
		t.Errorf("an hour too early: %+v", out)
	}
	v.Work = 0
	if out := replayRental(choices, v, away); !out.Met || len(out.Choices) != 0 {
		t.Errorf("nothing to do: %s", fmt.Sprint(out))
	}
}
