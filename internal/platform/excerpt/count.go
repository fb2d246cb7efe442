package excerpt

import "fmt"

// Count is a number with a noun whose plural ends in s: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
