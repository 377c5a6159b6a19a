// Package batch has the rules of batch systems, as they run clusters of many users: priorities of several factors
// with fair shares (the order "multifactor"), partitions, qualities of service and accounts with their limits, and a
// scheduler that works in two ways side by side (the backfill "periodic"): a short look at the queue whenever
// something happens, and now and then a long one that reserves.
//
// The blocks partition, qos, account and nodes of a policy describe the cluster; both rules read them. Jobs say where
// they belong in their Submission.
package batch
