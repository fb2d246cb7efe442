package rule

import (
	"testing"
	"time"
)

func TestRepeats(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	tests := []struct {
		text, before string
		age          time.Duration
		want         bool
	}{
		{"The disk is full.", "The disk is full.", time.Hour, true},
		{" The disk\n\nis\u00a0full. ", "The disk is full.", time.Hour, true},
		{"The disk is full.", "The disk is full.", day - 1, true},
		{"The disk is full.", "The disk is full.", day, false},
		{"The disk is full.", "The disk is full.", -time.Minute, true},
		{"The disk is full.", "The disk is full.", -day, false},
		{"The disk is full!", "The disk is full.", time.Hour, false},
		{"the disk is full.", "The disk is full.", time.Hour, false},
		{"Thedisk is full.", "The disk is full.", time.Hour, false},
		{"", "", time.Hour, false},
		{"x", "", time.Hour, false},
	}
	for _, test := range tests {
		if got := repeats(test.text, test.before, test.age, day); got != test.want {
			t.Errorf("%q after %q and %v: got %v, want %v", test.text, test.before, test.age, got, test.want)
		}
	}
}
