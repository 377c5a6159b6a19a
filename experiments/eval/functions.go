package eval

import (
	"reflect"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// The values that the language's own functions return. Nothing else makes
// them, so that what is in them has been checked.
var (
	gapType   = cty.Capsule("distribution", reflect.TypeFor[workload.Arrivals]())
	noisyType = cty.Capsule("noisy estimates", reflect.TypeFor[Estimates]())
)

// functions are what expressions can call; package schema documents them.
var functions = map[string]function.Function{
	"exponential": gapFunction(workload.Exponential, "mean"),
	"normal":      gapFunction(workload.Normal, "mean", "deviation"),
	"noisy":       estimatesFunction("noisy"),
	"online":      estimatesFunction("online"),
	"amdahl":      amdahlFunction,
	"usl":         uslFunction,

	"weibull":  lifeFunction("weibull", []string{"shape"}, []string{"scale"}),
	"bathtub":  lifeFunction("bathtub", []string{"A"}, []string{"tau1", "tau2", "b"}),
	"survival": fileFunction("survival", "time_s", "survival", "lifetime_s", "revoked", "ended_by"),
	"availability": fileFunction("availability", "time_s", "servers", "available", "first_tick", "ticks", "window",
		"step"),
	"prices":    fileFunction("prices", "time_s", "price"),
	"catalogue": fileFunction("catalogue", "type", "region", "market", "price"),

	"abs": stdlib.AbsoluteFunc, "ceil": stdlib.CeilFunc, "floor": stdlib.FloorFunc,
	"log": stdlib.LogFunc, "max": stdlib.MaxFunc, "min": stdlib.MinFunc,
	"parseint": stdlib.ParseIntFunc, "pow": stdlib.PowFunc, "signum": stdlib.SignumFunc,

	"chunklist": stdlib.ChunklistFunc, "coalesce": stdlib.CoalesceFunc, "compact": stdlib.CompactFunc,
	"concat": stdlib.ConcatFunc, "contains": stdlib.ContainsFunc, "distinct": stdlib.DistinctFunc,
	"element": stdlib.ElementFunc, "flatten": stdlib.FlattenFunc, "keys": stdlib.KeysFunc,
	"length": stdlib.LengthFunc, "lookup": stdlib.LookupFunc, "merge": stdlib.MergeFunc,
	"range": stdlib.RangeFunc, "reverse": stdlib.ReverseListFunc, "setproduct": stdlib.SetProductFunc,
	"slice": stdlib.SliceFunc, "sort": stdlib.SortFunc, "values": stdlib.ValuesFunc, "zipmap": stdlib.ZipmapFunc,

	"format": stdlib.FormatFunc, "formatlist": stdlib.FormatListFunc, "join": stdlib.JoinFunc,
	"jsondecode": stdlib.JSONDecodeFunc, "jsonencode": stdlib.JSONEncodeFunc,
	"lower": stdlib.LowerFunc, "regex": stdlib.RegexFunc, "replace": stdlib.ReplaceFunc,
	"split": stdlib.SplitFunc, "strlen": stdlib.StrlenFunc, "substr": stdlib.SubstrFunc,
	"title": stdlib.TitleFunc, "trim": stdlib.TrimFunc, "trimprefix": stdlib.TrimPrefixFunc,
	"trimspace": stdlib.TrimSpaceFunc, "trimsuffix": stdlib.TrimSuffixFunc, "upper": stdlib.UpperFunc,

	"tobool": stdlib.MakeToFunc(cty.Bool), "tonumber": stdlib.MakeToFunc(cty.Number),
	"tostring": stdlib.MakeToFunc(cty.String),
}

// functionNames are for suggestions, in the order of the reference.
var functionNames = func() []string {
	names := make([]string, len(language.Functions))
	for i, f := range language.Functions {
		names[i] = f.Name
	}
	return names
}()

// gapFunction makes a distribution of gaps from durations.
func gapFunction(kind workload.ArrivalKind, params ...string) function.Function {
	spec := &function.Spec{Type: function.StaticReturnType(gapType)}
	for _, p := range params {
		spec.Params = append(spec.Params, function.Parameter{Name: p, Type: cty.String})
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var durations [2]time.Duration
		for i, arg := range args {
			d, err := units.ParseDuration(arg.AsString())
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "%q is not a duration: %s", arg.AsString(), err)
			}
			durations[i] = d
		}
		if durations[0] == 0 {
			return cty.NilVal, function.NewArgErrorf(0, "the mean must be above 0s")
		}
		return cty.CapsuleVal(gapType, &workload.Arrivals{Kind: kind, Mean: durations[0], SD: durations[1]}), nil
	}
	return function.New(spec)
}

// estimatesFunction makes estimates with an error.
func estimatesFunction(name string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "sigma", Type: cty.Number}},
		Type:   function.StaticReturnType(noisyType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			sigma, _ := args[0].AsBigFloat().Float64()
			if sigma < 0 || sigma > 10 {
				return cty.NilVal, function.NewArgErrorf(0, "sigma must be from 0 to 10")
			}
			return cty.CapsuleVal(noisyType, &Estimates{Name: name, Sigma: sigma}), nil
		},
	})
}
