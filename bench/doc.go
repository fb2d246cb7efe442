// Package bench measures what a turn costs and compares it with the targets of
// the project. It holds nothing but tests:
//
//	make bench                                   the table of targets
//	go test -run '^$' -bench . ./bench           plain benchmarks, for profiles
//	go test ./bench                              a small run of each, so that none rots
//
// # Ratios
//
// Most targets are ratios of two things measured in turns within one run, since
// a ratio depends little on the machine and on who else uses it. Each is
// measured in several rounds, in which the two take turns; the table shows the
// median of the rounds, and the lowest and the highest beside it. Times of whole
// programs, and what many sessions gain, depend on how busy the machine is:
// they are taken up to three times until they meet their target.
//
// # By hand
//
// What a turn costs is compared with the very same rows written by hand. A
// first run of the turns has triggers on every table that note each row a
// commit adds or changes. The second half of the comparison writes those rows,
// byte by byte, into a database of the same schema and settings: with prepared
// statements on one connection, each row of a commit once, in as many commits.
// Between the commits it does what the tool does with the plainest calls of
// package os. There is no inbox to look at, no lease, no state, no model.
package bench
