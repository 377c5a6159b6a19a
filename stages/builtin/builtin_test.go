package builtin

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/stages/builtin/train"
)

// TestBuiltinsAgree compares the settings of built-in programs in the language
// with the settings that the programs take.
func TestBuiltinsAgree(t *testing.T) {
	variants := block().ByLabel
	describe := func(name, value string) string { return name + " = " + strings.Trim(value, `"`) }
	got, want := map[string][]string{}, map[string][]string{}
	for _, v := range variants {
		for _, a := range v.Args {
			got[v.Label] = append(got[v.Label], describe(a.Name, a.Default))
		}
	}
	for _, p := range train.Programs() {
		for _, param := range p.Params {
			want[p.Name] = append(want[p.Name], describe(param.Name, param.Default))
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("in the language:\n%v\nin the programs:\n%v", got, want)
	}
}
