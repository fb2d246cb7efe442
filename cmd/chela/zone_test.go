package main_test

import (
	"fmt"
	"sync"
	"time"
)

// earlyZone returns a time zone in which a day has just begun, so that tests whose
// records name days do not run into the next one.
var earlyZone = sync.OnceValue(func() string {
	hour := time.Now().UTC().Hour()
	if hour <= 12 {
		return fmt.Sprintf("Etc/GMT+%d", hour) // POSIX: to the west
	}
	return fmt.Sprintf("Etc/GMT-%d", 24-hour)
})
