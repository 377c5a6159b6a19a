package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// Asked is a member of plan.json that a feature adds: the experiment's request to it.
type Asked[T any] struct{ name string }

// member is one of them. Plan has no field for it: its value is kept by its name.
type member struct {
	name string
	rank int
	of   reflect.Type
}

var members []member

// BehindPlots is the rank from which members come after the plots of plan.json; lower ranks come after the
// comparisons.
const BehindPlots = 100

// Ask adds a member to plan.json, with a rank among the members of other features. It panics when the name is
// taken.
func Ask[T any](name string, rank int) Asked[T] {
	if slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
		panic(fmt.Sprintf("two features ask for %q of plan.json", name))
	}
	members = append(members, member{name, rank, reflect.TypeFor[T]()})
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
	return Asked[T]{name}
}

// Of returns the member's value in a plan; the zero value without one.
func (a Asked[T]) Of(p *Plan) T {
	v, _ := p.asked[a.name].(T)
	return v
}

// Set puts it into a plan.
func (a Asked[T]) Set(p *Plan, v T) {
	p.asked = maps.Clone(p.asked)
	if p.asked == nil {
		p.asked = map[string]any{}
	}
	p.asked[a.name] = v
}

// inFile begins the names of the fields of members in a plan as plan.json has it.
const inFile = "Asked_"

// planFile is a plan as plan.json has it: a struct with the fields of Plan, and one for each member of a feature.
func planFile() reflect.Value {
	var fields []reflect.StructField
	add := func(behind bool) {
		for _, m := range members {
			if m.rank >= BehindPlots == behind {
				tag := reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, m.name))
				fields = append(fields, reflect.StructField{Name: inFile + m.name, Type: m.of, Tag: tag})
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Plan]()) {
		if !f.IsExported() {
			continue
		}
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		switch f.Name {
		case "Compares":
			add(false)
		case "Plots":
			add(true)
		}
	}
	return reflect.New(reflect.StructOf(fields)).Elem()
}

// MarshalJSON writes the members of features among the others. To write many cells, write File, in one pass.
func (p Plan) MarshalJSON() ([]byte, error) { return json.Marshal(p.File()) }

// File returns the content of plan.json for a plan.
func (p Plan) File() any {
	file, own := planFile(), reflect.ValueOf(p)
	for i := range file.NumField() {
		name := file.Type().Field(i).Name
		if asked, ok := strings.CutPrefix(name, inFile); !ok {
			file.Field(i).Set(own.FieldByName(name))
		} else if v, ok := p.asked[asked]; ok {
			file.Field(i).Set(reflect.ValueOf(v))
		}
	}
	return file.Addr().Interface()
}

// ReadPlan reads the plan of an experiment's folder.
func ReadPlan(dir string, p *Plan) error {
	file := planFile()
	err := folder.ReadJSON(dir, file.Addr().Interface(), PlanFile)
	if err == nil {
		p.take(file)
	}
	return err
}

// UnmarshalJSON reads the output of MarshalJSON.
func (p *Plan) UnmarshalJSON(raw []byte) error {
	file := planFile()
	err := json.Unmarshal(raw, file.Addr().Interface())
	if err == nil {
		p.take(file)
	}
	return err
}

// take copies the members of a plan.json.
func (p *Plan) take(file reflect.Value) {
	own := reflect.ValueOf(p).Elem()
	p.asked = map[string]any{}
	for i := range file.NumField() {
		name, value := file.Type().Field(i).Name, file.Field(i)
		if asked, ok := strings.CutPrefix(name, inFile); !ok {
			own.FieldByName(name).Set(value)
		} else if !value.IsZero() {
			p.asked[asked] = value.Interface()
		}
	}
}
