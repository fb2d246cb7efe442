package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"chela"
)

// maxDaysAgo is how far back a number of days may reach.
const maxDaysAgo = 36_500

// ParseSince returns the beginning of the day, where the owner lives, that text
// says: a day such as 2026-03-01, or a number of days before now such as 30d. The
// error of another text is Invalid and calls it by name.
func ParseSince(name, text string, now time.Time, zone *time.Location) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, text, zone); err == nil {
		return day, nil
	}
	number, ok := strings.CutSuffix(text, "d")
	days, err := strconv.Atoi(number)
	if !ok || err != nil || days < 0 || days > maxDaysAgo {
		return time.Time{}, chela.E(chela.Invalid, fmt.Sprintf("%s cannot be %.40q", name, text)).
			WithHint("write a day such as 2026-03-01, or a number of days such as 30d")
	}
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d-days, 0, 0, 0, 0, zone), nil
}
