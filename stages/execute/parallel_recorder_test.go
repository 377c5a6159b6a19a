package execute

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
)

// A relay passes on each field of an event, for a single event and among others. No field comes from an earlier event.
func TestRelayHandsOnEachField(t *testing.T) {
	kept := &keeping{}
	r := newRelay(kept)
	var want []scheduler.Event
	full := scheduler.Event{}
	of := reflect.TypeFor[scheduler.Event]()
	for i := range of.NumField() {
		e := scheduler.Event{Kind: scheduler.Start, Job: 1}
		for _, v := range []reflect.Value{reflect.ValueOf(&e).Elem(), reflect.ValueOf(&full).Elem()} {
			fill(t, v.Field(i))
		}
		for _, e := range []scheduler.Event{{}, e, {Kind: scheduler.Finish, Result: &scheduler.Result{Cores: i}}, full} {
			want = append(want, e)
			r.Event(&e)
		}
	}
	r.close()
	if d := cmp.Diff(want, kept.events); d != "" {
		t.Error(d)
	}
}

// fill sets a value to one that is not zero.
func fill(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(uint64(scheduler.Start))
	case reflect.String:
		v.SetString("why")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Struct:
		fill(t, v.Field(0))
	default:
		t.Fatalf("a %s", v.Type())
	}
}

// keeping stores the events of a trace with their results.
type keeping struct{ events []scheduler.Event }

func (k *keeping) Event(e *scheduler.Event) {
	copied := *e
	if e.Result != nil {
		r := *e.Result
		copied.Result = &r
	}
	k.events = append(k.events, copied)
}

func (*keeping) Decision(*scheduler.Decision) {}
