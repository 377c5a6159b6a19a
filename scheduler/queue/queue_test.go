package queue

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The queue behaves as a sorted list that is searched from its front.
func TestQueueIsAnOrderedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const jobs = 400
		q := New(jobs, true)
		in := map[int32]bool{}
		small := rapid.Int64Range(0, 6)
		turn, inTurn := int64(0), rapid.Bool().Draw(t, "in turn") // each goes behind all others
		rank := func(t *rapid.T) int64 {
			if turn++; inTurn {
				return turn / 2
			}
			return small.Draw(t, "rank")
		}
		length := rapid.OneOf(small, rapid.Int64Range(0, math.MaxInt64))
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				j := int32(rapid.IntRange(0, jobs-1).Draw(t, "job"))
				if in[j] {
					q.Remove(j)
				} else {
					q.Insert(Key{rank(t), small.Draw(t, "second"), j},
						Ask{int32(rapid.IntRange(1, 300).Draw(t, "cores")), time.Duration(length.Draw(t, "length"))})
				}
				in[j] = !in[j]
			},
			"many": func(t *rapid.T) { // blocks are divided and joined
				some := rapid.Int32Range(0, jobs)
				lo, hi, add := some.Draw(t, "from"), some.Draw(t, "to"), rapid.Bool().Draw(t, "add")
				span := rapid.Int64Range(1, 500).Draw(t, "span")
				for j := lo; j < hi; j++ {
					switch {
					case in[j] && !add:
						q.Remove(j)
					case !in[j] && add:
						q.Insert(Key{int64(weightOf(j)) % span, 0, j}, Ask{1 + j%300, time.Duration(j * 1000)})
					}
					in[j] = add
				}
			},
			"": func(t *rapid.T) {
				if sound(t, &q.tree); !q.tree.empty() && q.line.len() > 0 {
					t.Fatalf("%d jobs are in the line, beside the tree", q.line.len())
				}
				l := Limit{int32(rapid.IntRange(1, 300).Draw(t, "free")), time.Duration(length.Draw(t, "window")),
					int32(rapid.IntRange(0, 300).Draw(t, "spare"))}
				after := Key{rapid.Int64Range(0, max(500, turn)).Draw(t, "rank"), small.Draw(t, "second"), int32(rapid.IntRange(-1, jobs).Draw(t, "job"))}
				want, size, before := Nobody, 0, 0
				for j := range int32(jobs) {
					if !in[j] {
						continue
					}
					size++
					key := q.KeyOf(j)
					if key.Less(after) {
						before++
					}
					if after.Less(key) && l.allows(q.AskOf(j)) && (want == Nobody || key.Less(q.KeyOf(want))) {
						want = j
					}
				}
				if got := q.Next(after, l); got != want || q.Len() != size || q.Before(after) != before {
					t.Fatalf("next %d of %d, %d before; want %d of %d, %d before", got, q.Len(), q.Before(after), want, size, before)
				}
				most := rapid.IntRange(0, 2*room).Draw(t, "most")
				first := q.First(most, nil)
				if len(first) != min(most, size) {
					t.Fatalf("the first %d of %d are %v", most, size, first)
				}
				for i, j := range first {
					if !in[j] || q.Before(q.KeyOf(j)) != i {
						t.Fatalf("the first are %v, but %d is not at place %d", first, j, i)
					}
				}
			},
		})
	})
}

// Codes compare as lengths do, up to the eleven bits that they keep.
func TestCodesKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Min(0).Draw(t, "a"), rapid.Int64Min(0).Draw(t, "b")
		x, y := code(time.Duration(a)), code(time.Duration(b))
		if a <= b && x > y {
			t.Fatalf("%d has code %d, %d has %d", a, x, b, y)
		}
		if a/2 > b/2+b>>10+1 && x <= y {
			t.Fatalf("%d and %d have codes %d and %d", a, b, x, y)
		}
	})
	if code(never) == math.MaxUint16 {
		t.Error("a job without an estimate is coded as no job")
	}
}
