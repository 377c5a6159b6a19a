package schema

import (
	"embed"
	"testing"
	"time"
)

// Inner is embedded in another struct.
type Inner struct {
	// How long,
	// at most.
	//
	// Default: by `count`.
	//
	//	limit = "5s"
	Limit *time.Duration `arg:"limit,positive" least:"1ms" needs:"count"`
}

// Outer is the block of a test.
//
// What it is for.
//
//	outer {
//	  count = 2
//	}
type Outer struct {
	Count int `arg:"count,required" min:"1" max:"threads"`
	Inner
	Name  string // not an argument
	Which string `arg:"which" default:"a" allowed:"a b"`
	Rate  any    `arg:"rate" type:"share"`
}

//go:embed struct_arguments_test.go
var documented embed.FS

// TestOf checks that the tags and comments of a struct become the description of a block.
func TestOf(t *testing.T) {
	Document("schema", documented)
	b := BlockFor[Outer](Block{Name: "outer", Args: []Arg{{Name: "more"}}})
	if b.Doc != "What it is for." || b.Example != "outer {\n  count = 2\n}" {
		t.Errorf("the block is documented by %q, with the example %q", b.Doc, b.Example)
	}
	if len(b.Args) != 5 || b.Args[4].Name != "more" {
		t.Fatalf("the arguments are %q", Names(b.Args))
	}
	count, limit, which, rate := b.Args[0], b.Args[1], b.Args[2], b.Args[3]
	if count.Type != Integer || !count.Required || *count.Min != 1 || *count.Max != MaxThreads {
		t.Errorf("count is %+v", count)
	}
	if limit.Type != Duration || limit.Doc != "How long, at most." || limit.DefaultDoc != "by `count`" ||
		limit.Example != `"5s"` || !limit.Positive || limit.Least != time.Millisecond || limit.Needs != "count" {
		t.Errorf("limit is %+v", limit)
	}
	if which.Default != `"a"` || len(which.Allowed) != 2 || rate.Type != Share {
		t.Errorf("which is %+v, rate %+v", which, rate)
	}
	if b.ReplaceWords("{x}", "y"); b.Args[1].DefaultDoc != "by `count`" {
		t.Errorf("what has no braces has become %q", b.Args[1].DefaultDoc)
	}
}
