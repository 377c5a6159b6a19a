package policy

import "github.com/tfexp/tfexp/scheduler"

// FCFS is the order "first come, first served".
const FCFS Order = "fcfs"

var _ = RegisterOrder(OrderChoice{
	Choice:   Choice{Name: FCFS, Title: "FCFS", Doc: "by arrival", Place: 1},
	OneByOne: true, New: func(Setup) scheduler.Ranker { return arrival{} },
})

// arrival ranks jobs by their arrival.
type arrival struct{}

func (arrival) Rank(j scheduler.JobView) int64 { return int64(j.Job().Arrival) }
