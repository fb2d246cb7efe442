// Package schedule computes due times. It is pure: it reads no clock, and the
// zones are those passed in or named in a text.
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
// # Words
//
// ParseWhen reads schedules as people write them, in any order of the words:
//
//	cron   every weekday at 9, mon-fri 9:00, every monday and thursday at 9:30,
//	       daily at 18:00, every day at 9 and 18, first of the month at 8,
//	       last friday of the month at 17, every year on 1 may at 9
//	every  every 2 hours, every 30m, every other day, hourly
//	at     in 20 minutes, in 3 days at 9, tomorrow at 9, next monday at 9,
//	       at noon, 1 may 2035 at 9
//
// Hours are those of 24, unless am, pm or a part of the day says otherwise: 8 in
// the evening. A day without a time is due at 9:00, in the afternoon at 15:00, in
// the evening at 18:00, at night at 21:00. A single time that no word dates is
// the first after now. Minutes and hours from now are real ones; days, weeks,
// months and years keep the time of day. What one trigger cannot express, such
// as every second Monday, is refused with a form that is possible.
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
