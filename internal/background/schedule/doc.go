// Package schedule computes due times. It is pure: it reads no clock, and no
// zones but those passed in.
//
// A Schedule is one of three:
//
//	cron   at the wall times that an expression describes, in a zone
//	every  at fixed intervals, counted from an anchor
//	at     once
//
// # Cron expressions
//
// An expression has five fields, or six with seconds first. Two seconds of a
// minute must be at least 10 s apart:
//
//	second        0-59
//	minute        0-59
//	hour          0-23
//	day of month  1-31  L the last day, L-3 the third before it, 15W the
//	                    weekday nearest to the 15th in its month, LW the last weekday
//	month         1-12 or JAN-DEC
//	weekday       0-7 or SUN-SAT, 0 and 7 are Sunday; 5L the last Friday,
//	                    MON#2 the second Monday
//
// Each field is a list of values, ranges (9-17, FRI-SUN) and steps (*/15,
// 8-18/2, 5/10 from 5 on). "*" is every value, as is "?" in both day fields.
// The macros @hourly, @daily, @midnight, @weekly, @monthly, @yearly and
// @annually stand for a whole expression.
//
// If day of month and weekday are both restricted, a day is due if either
// matches; if either begins with "*" or is "?", both must match. This is the
// rule of Vixie cron and its successors.
//
// # Daylight saving and other clock changes
//
// A wall time is due when the clock first shows that time or a later one:
//
//	02:30 does not exist  once, at the end of the gap: 03:00
//	02:30 comes twice     once, the first time
//
// A gap may be half an hour (Lord Howe) or a whole day (Apia, 2011-12-30). All
// times of one gap share its end and are due there once.
//
// If the hour is "*", has a step or lists all hours, the expression follows
// real hours: it is due whenever the clock shows a matching time, so twice in
// an hour that is repeated. A time that does not exist is then due at the end
// of its gap only if nothing else is due within the following hour, so "30 * *
// * *" stays hourly in spring, and "0 */2 * * *" leaves no hole.
//
// Fixed intervals ignore wall clocks: 24 h after 09:00 may be 10:00.
package schedule
