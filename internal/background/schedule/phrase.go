package schedule

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"chela"
	"chela/internal/platform/nearest"
)

// A phrase collects what the words of a schedule say, in whichever order they come.
type phrase struct {
	text  string
	words []string // not read yet
	now   time.Time
	zone  *time.Location
	err   error // the first one

	repeat bool          // every, daily, mondays
	count  int           // units between two times
	unit   unit          // 0 if none is named
	span   time.Duration // between two times, as 1h30m

	alternate bool // every second Monday, of a month or of all

	fromNow  bool // in 20 minutes: the next three
	inMonths int
	inDays   int
	inTime   time.Duration

	date     time.Time // day of a single time at 00:00 UTC; zero if none is named
	next     bool      // not today, or not this month
	weekdays set       // 0 is Sunday
	ordinals []int     // first, 2nd, last, until a word says of what
	dates    []int     // days of a month
	nth      []string  // weekdays of a month, as in cron
	workDate string    // first or last working day of a month, as in cron
	monthly  bool      // of the month
	months   set
	year     int

	clocks []daytime
	part   string // of the day, as morning
}

// lastDay is the ordinal and the date of "last".
const lastDay = 0

// A daytime is a time of day.
type daytime struct {
	hour, minute int  // an hour of -1 is every hour
	exact        bool // written with am or pm, or after noon
}

// A unit is a unit of time.
type unit uint8

const (
	unitSecond unit = iota + 1
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitYear
)

// units maps words without a plural s to units.
var units = map[string]unit{
	"second": unitSecond, "sec": unitSecond, "minute": unitMinute, "min": unitMinute, "hour": unitHour, "hr": unitHour,
	"day": unitDay, "week": unitWeek, "month": unitMonth, "year": unitYear,
}

func unitOf(word string) unit { return units[strings.TrimSuffix(word, "s")] }

// length is the length of a unit that is always the same.
func (u unit) length() time.Duration {
	return [...]time.Duration{unitSecond: time.Second, unitMinute: time.Minute, unitHour: time.Hour, unitDay: day * time.Second, unitWeek: 7 * day * time.Second}[u]
}

// adverbs maps words to the unit of which each has a time.
var adverbs = map[string]unit{
	"hourly": unitHour, "daily": unitDay, "weekly": unitWeek, "monthly": unitMonth, "yearly": unitYear, "annually": unitYear,
}

// dayParts maps parts of the day to their hour, where no time is named.
var dayParts = map[string]int{"morning": 9, "afternoon": 15, "evening": 18, "night": 21}

// vocabulary is what misspelt words are compared with.
var vocabulary = strings.Fields("every tomorrow today tonight weekday weekend daily weekly monthly hourly minutes hours days weeks month first last " +
	"morning afternoon evening noon midnight monday tuesday wednesday thursday friday saturday sunday " +
	"january february march april june july august september october november december")

// refuse keeps an Invalid error.
func (p *phrase) refuse(problem, cure string) {
	if p.err == nil {
		p.err = chela.Ef(chela.Invalid, "%.100q is not a schedule: %s", p.text, problem).WithHint(cure)
	}
}

// take removes the next word and returns it; "" at the end.
func (p *phrase) take() string {
	word := p.peek()
	p.words = p.words[min(1, len(p.words)):]
	return word
}

// peek returns the next word, "" at the end.
func (p *phrase) peek() string { return p.ahead(0) }

// ahead returns the word after n others.
func (p *phrase) ahead(n int) string {
	if n >= len(p.words) {
		return ""
	}
	return p.words[n]
}

// skip removes the next word if it is one of those given.
func (p *phrase) skip(words ...string) bool {
	found := len(p.words) > 0 && slices.Contains(words, p.words[0])
	if found {
		p.words = p.words[1:]
	}
	return found
}

// read reads the next word, and those that belong to it.
func (p *phrase) read() {
	switch word := p.take(); word {
	case "on", "the", "of", "and", "&", "this", "coming", "a":
	case "at", "@":
		if word = p.take(); !p.clock(word, true) {
			p.refuse(strconv.Quote(word)+" is not a time of day", "write one such as 9, 9:30, 18:00, 6pm, noon or midnight")
		}
	case "next":
		p.next = true
	case "every", "each":
		p.every()
	case "in":
		p.in()
	case "between", "from", "until", "till":
		p.refuse("it limits the hours of a day", `set active hours ("09:00-17:00") beside it, or write a cron expression such as "*/30 9-16 * * MON-FRI"`)
	default:
		if !p.adverb(word) && !p.weekday(word) && !p.ordinal(word) && !p.month(word) && !p.day(word) && !p.clock(word, false) {
			p.unknown(word)
		}
	}
}

func (p *phrase) unknown(word string) {
	_, isSpan := ParseSpan(word)
	if _, isNumber := number(word); isNumber && unitOf(p.peek()) != 0 {
		word, isSpan = word+" "+p.peek(), true
	}
	if isSpan {
		p.refuse("it is unclear whether it repeats", "write every "+word+" or in "+word)
		return
	}
	cure := "write one such as " + Forms
	if near := nearest.Name(word, vocabulary); near != "" {
		cure = "did you mean " + near + "? Allowed are " + Forms
	}
	p.refuse("the word "+strconv.Quote(word)+" is unknown", cure)
}

func (p *phrase) adverb(word string) bool {
	u, ok := adverbs[word]
	if ok {
		p.each(1, u)
	}
	return ok
}

// each sets a repetition.
func (p *phrase) each(n int, u unit) {
	if p.unit != 0 && p.unit != u && u != unitMonth {
		p.refuse("it repeats in two ways", "make a schedule for each")
	}
	p.repeat, p.count, p.unit = true, n, u
	p.monthly = p.monthly || u == unitMonth
}

// every reads the interval after "every", if there is one.
func (p *phrase) every() {
	p.repeat = true
	word, after := p.peek(), unitOf(p.ahead(1))
	n, isNumber := number(word)
	span, isSpan := ParseSpan(word)
	switch {
	case isSpan:
		p.take()
		p.span = span
	case isNumber && n > 0 && after != 0:
		p.take()
		p.take()
		p.each(n, after)
	case (word == "other" || word == "second") && after != 0:
		p.take()
		p.take()
		p.each(2, after)
	case word == "half":
		p.take()
		p.span = p.halfHour()
	case isNumber && monthOf(p.ahead(1)) == 0, word == "other", word == "":
		p.refuse("it is unclear how often that is", "write one such as every 2 hours, every 2 weeks, every weekday at 9 or every monday at 9")
	case word == "second" && p.ahead(1) != "":
		_, _, isWeekday := weekdayOf(p.ahead(1))
		p.alternate = isWeekday
	case unitOf(word) != 0:
		p.take()
		p.each(1, unitOf(word))
	}
}

// in reads what follows "in": a part of the day, a month or a distance from now.
func (p *phrase) in() {
	if p.skip("the"); dayParts[p.peek()] != 0 || monthOf(p.peek()) != 0 {
		return
	}
	for more := true; more; {
		p.fromNow = true
		word := p.take()
		n, isNumber := number(word)
		span, isSpan := ParseSpan(word)
		switch {
		case isSpan:
			p.inTime += span
		case word == "half":
			p.inTime += p.halfHour()
		case (word == "a" || word == "an" || isNumber) && unitOf(p.peek()) != 0:
			if !isNumber {
				n = 1
			}
			p.add(n, unitOf(p.take()))
		default:
			p.refuse("it is unclear when that is", "write one such as in 20 minutes, in 2 hours or in 3 days at 9")
		}
		_, isNumber = number(p.ahead(1))
		more = p.err == nil && isNumber && unitOf(p.ahead(2)) != 0 && p.skip("and")
	}
}

// halfHour reads what follows "half".
func (p *phrase) halfHour() time.Duration {
	if p.skip("an", "a"); unitOf(p.take()) != unitHour {
		p.refuse("only an hour can be halved", "write one such as 30 minutes")
	}
	return 30 * time.Minute
}

// add adds to the distance from now.
func (p *phrase) add(n int, u unit) {
	switch u {
	case unitYear:
		p.inMonths += 12 * n
	case unitMonth:
		p.inMonths += n
	case unitWeek:
		p.inDays += 7 * n
	case unitDay:
		p.inDays += n
	default:
		p.inTime += time.Duration(n) * u.length()
	}
}

// number reads a whole number up to 9999, in digits or as a word.
func number(word string) (int, bool) {
	if n := slices.Index(strings.Fields("zero one two three four five six seven eight nine ten eleven twelve"), word); n >= 0 {
		return n, true
	}
	n, err := strconv.ParseUint(word, 10, 16)
	return int(n), err == nil && n < 10_000
}

// ParseSpan reads a span of time with the units w, d, h, m and s: 30m, 1d12h. It
// reports false for any other text and for spans of more than ten years.
func ParseSpan(text string) (time.Duration, bool) {
	const most = 10 * 366 * day * time.Second
	parts := spanForm().FindStringSubmatch(text)
	if text == "" || parts == nil {
		return 0, false
	}
	w, _ := strconv.Atoi(parts[1]) // at most four digits, or none
	d, _ := strconv.Atoi(parts[2]) // at most four digits, or none
	rest, err := time.ParseDuration(cmp.Or(parts[3], "0"))
	total := time.Duration(7*w+d)*day*time.Second + rest
	return total, err == nil && rest >= 0 && rest <= most && total <= most
}
