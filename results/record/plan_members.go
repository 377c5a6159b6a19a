package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// PlanMember is a member of plan.json that a feature adds.
type PlanMember[T any] struct{ name string }

// planMember describes a registered PlanMember. Plan stores its value in a map under its name.
type planMember struct {
	name string
	rank int
	of   reflect.Type
}

var planMembers []planMember

// RankAfterPlots is the smallest rank of members that come after the plots in plan.json. Members with lower ranks
// come after the comparisons.
const RankAfterPlots = 100

// RegisterPlanMember adds a member to plan.json; rank orders the members. It panics if the name is taken.
func RegisterPlanMember[T any](name string, rank int) PlanMember[T] {
	if slices.ContainsFunc(planMembers, func(m planMember) bool { return m.name == name }) {
		panic(fmt.Sprintf("two features ask for %q of plan.json", name))
	}
	planMembers = append(planMembers, planMember{name, rank, reflect.TypeFor[T]()})
	slices.SortFunc(planMembers, func(a, b planMember) int { return cmp.Compare(a.rank, b.rank) })
	return PlanMember[T]{name}
}

// Of returns the member's value in a plan, or the zero value.
func (a PlanMember[T]) Of(p *Plan) T {
	v, _ := p.asked[a.name].(T)
	return v
}

// Set sets the member's value in a plan.
func (a PlanMember[T]) Set(p *Plan, v T) {
	p.asked = maps.Clone(p.asked)
	if p.asked == nil {
		p.asked = map[string]any{}
	}
	p.asked[a.name] = v
}

// memberFieldPrefix is the prefix of the struct fields that newPlanFile makes for members.
const memberFieldPrefix = "Asked_"

// newPlanFile returns a new struct for the content of plan.json: the fields of Plan, and a field for each registered
// member.
func newPlanFile() reflect.Value {
	var fields []reflect.StructField
	add := func(behind bool) {
		for _, m := range planMembers {
			if m.rank >= RankAfterPlots == behind {
				tag := reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, m.name))
				fields = append(fields, reflect.StructField{Name: memberFieldPrefix + m.name, Type: m.of, Tag: tag})
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

// MarshalJSON writes the plan with its members. For a plan of many cells, encode File() instead: it needs less
// memory.
func (p Plan) MarshalJSON() ([]byte, error) { return json.Marshal(p.File()) }

// File returns the plan with its members as a struct, the content of plan.json.
func (p Plan) File() any {
	file, own := newPlanFile(), reflect.ValueOf(p)
	for i := range file.NumField() {
		name := file.Type().Field(i).Name
		if asked, ok := strings.CutPrefix(name, memberFieldPrefix); !ok {
			file.Field(i).Set(own.FieldByName(name))
		} else if v, ok := p.asked[asked]; ok {
			file.Field(i).Set(reflect.ValueOf(v))
		}
	}
	return file.Addr().Interface()
}

// ReadPlan reads the plan of an experiment's folder.
func ReadPlan(dir string, p *Plan) error {
	file := newPlanFile()
	err := folder.ReadJSON(dir, file.Addr().Interface(), PlanFile)
	if err != nil {
		return err
	}
	if p.copyMembers(file); p.Schema > PlanSchema {
		return fmt.Errorf("%s has format %d, and this tfexp reads formats up to %d: use a newer tfexp", filepath.Join(dir, PlanFile),
			p.Schema, PlanSchema)
	}
	return nil
}

// PlanSchema is the latest format of plan.json.
const PlanSchema = 1

// UnmarshalJSON reads the output of MarshalJSON.
func (p *Plan) UnmarshalJSON(raw []byte) error {
	file := newPlanFile()
	err := json.Unmarshal(raw, file.Addr().Interface())
	if err == nil {
		p.copyMembers(file)
	}
	return err
}

// copyMembers sets the members from the content of a plan.json.
func (p *Plan) copyMembers(file reflect.Value) {
	own := reflect.ValueOf(p).Elem()
	p.asked = map[string]any{}
	for i := range file.NumField() {
		name, value := file.Type().Field(i).Name, file.Field(i)
		if asked, ok := strings.CutPrefix(name, memberFieldPrefix); !ok {
			own.FieldByName(name).Set(value)
		} else if !value.IsZero() {
			p.asked[asked] = value.Interface()
		}
	}
}
