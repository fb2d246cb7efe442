// Package schedule computes when something is due next. It is pure: it has no
// clock, and reads nothing but the zones it is given.
//
// A Schedule is one of three:
//
//	cron   at the wall times that an expression describes, in a zone
//	every  each time a span has passed, counted from an anchor
//	at     once
//
// # Cron expressions
//
// Five fields, or six with seconds first; no two seconds of a minute may be
// closer than 10 s:
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
// Each field is a list of values, ranges (9-17, FRI-SUN) and steps (*/15, 8-18/2,
// 5/10 from 5 on). "*" is every value, as is "?" in both fields of days. Instead
// of fields there may be @hourly, @daily, @midnight, @weekly, @monthly, @yearly
// or @annually.
//
// If day of month and weekday are both restricted, a day that either matches is
// due; if one of them begins with "*" or is "?", both must match. So it is in
// the cron of Vixie and all that came after it.
//
// # Clocks that are changed
//
// In most zones clocks are put forward and back. What is written for a wall time
// is due when the clock first shows that time or a later one:
//
//	02:30 does not exist  once, at the end of the gap: 03:00
//	02:30 comes twice     once, the first time
//
// A gap may be half an hour long (Lord Howe) or a whole day (Apia, 2011-12-30).
// Times of one gap that have the same end are due there once.
//
// Where the hour is "*", has a step or names all hours, real hours count: it is
// due whenever the clock shows a time that matches, twice in an hour that comes
// twice. A time that does not exist is then due at the end of its gap only if
// nothing else is within the hour after that, so "30 * * * *" stays hourly in
// spring, and "0 */2 * * *" leaves no hole.
//
// What is due every span knows no wall clocks: 24 h after 09:00 may be 10:00.
package schedule
