package queue

import (
	"slices"
	"testing"
)

// After 8 starts, and after each 16 more, Ahead has the 16 jobs that wait next, or those that there are.
func TestAheadHasThoseThatWaitNext(t *testing.T) {
	q := New(40, false)
	for j := range int32(40) {
		q.Insert(Key{Job: j}, Ask{Cores: 1})
	}
	var a Ahead
	for range 2 { // instants
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
		q.Insert(Key{Job: 0}, Ask{Cores: 1}) // the line has become a tree
		for j := range int32(31) {
			q.Insert(Key{Job: 1 + j}, Ask{Cores: 1})
		}
	}
}
