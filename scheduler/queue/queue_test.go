package queue

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The queue behaves as a sorted list that is searched from the front.
func TestQueueIsAnOrderedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const jobs = 400
		q := New(jobs, true)
		in := map[int32]bool{}
		small := rapid.Int64Range(0, 6)
		turn, inTurn := int64(0), rapid.Bool().Draw(t, "in turn") // whether each inserted job goes behind all others
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
			"many": func(t *rapid.T) { // many jobs, so that blocks are divided and joined
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

// Codes of lengths have the order of the lengths, except for differences beyond the eleven leading bits.
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

// After insertions and deletions, a sorted list has the remaining elements in order.
func TestSortedLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list, want []int
		for _, x := range rapid.SliceOfN(rapid.IntRange(0, 30), 0, 200).Draw(t, "numbers") {
			if i := slices.Index(want, x); i >= 0 {
				list, want = DeleteSorted(list, x, cmp.Compare[int]), slices.Delete(want, i, i+1)
			} else {
				list, want = InsertSorted(list, x, cmp.Compare[int]), append(want, x)
			}
			if sorted := slices.Sorted(slices.Values(want)); !slices.Equal(list, sorted) {
				t.Fatalf("the list is %v, want %v", list, sorted)
			}
		}
	})
}

// Ahead returns the next 16 waiting jobs, or fewer if the queue is shorter, after 8 starts and then after every 16
// starts.
func TestAheadHasThoseThatWaitNext(t *testing.T) {
	q := New(40, false)
	for j := range int32(40) {
		q.Insert(Key{Job: j}, Ask{Cores: 1})
	}
	var a Ahead
	for range 2 { // two instants
		a.Begin()
		var said [][2]int32
		for j := range int32(32) {
			q.Remove(j)
			if next := a.Started(q); len(next) > 0 {
				said = append(said, [2]int32{next[0], next[len(next)-1]})
			}
		}
		if want := [][2]int32{{8, 23}, {24, 39}}; !slices.Equal(said, want) {
			t.Errorf("from and to are %v, want %v", said, want)
		}
		q.Insert(Key{Job: 0}, Ask{Cores: 1}) // the queue now uses a tree and no line
		for j := range int32(31) {
			q.Insert(Key{Job: 1 + j}, Ask{Cores: 1})
		}
	}
}

// TestTimersComeUpInOrder checks that a heap gives timers in order of time and then of number.
func TestTimersComeUpInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var heap Timers
		var all []Timer
		for range rapid.IntRange(0, 40).Draw(t, "timers") {
			x := Timer{time.Duration(rapid.IntRange(0, 9).Draw(t, "at")), int32(rapid.IntRange(0, 9).Draw(t, "of"))}
			heap.Push(x)
			all = append(all, x)
		}
		slices.SortFunc(all, CompareTimers)
		for _, want := range all {
			if heap[0] != want {
				t.Fatalf("%v comes up, want %v", heap[0], want)
			}
			heap.Pop()
		}
		if len(heap) != 0 {
			t.Fatalf("%d timers are left", len(heap))
		}
	})
}
