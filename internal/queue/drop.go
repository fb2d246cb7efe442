package queue

import (
	"fmt"
	"strings"

	"chela"
	"chela/internal/excerpt"
)

// Room decides who makes room when more messages wait than may, the newest of
// which has just come; its settings hold. It returns the places of those that
// are dropped, oldest first, none if all may stay. Messages of mode queue are never
// dropped. If nobody makes room, the newest is refused with an Exhausted error.
func Room(waiting []chela.Waiting) (drop []int, err error) {
	newest := waiting[len(waiting)-1]
	over := len(waiting) - newest.Queue.Cap
	if over <= 0 {
		return nil, nil
	}
	if newest.Queue.Mode != chela.QueuePlain && newest.Queue.Drop != chela.DropNew {
		for i := 0; i < len(waiting)-1 && len(drop) < over; i++ {
			if waiting[i].Queue.Mode != chela.QueuePlain {
				drop = append(drop, i)
			}
		}
	}
	if len(drop) < over {
		return nil, chela.E(chela.Exhausted, fmt.Sprintf("%d messages wait in this session already", len(waiting)-1)).
			WithHint("wait for an answer, or stop the turn that runs")
	}
	return drop, nil
}

// The bounds of a note about dropped messages.
const (
	MaxLines = 50  // of messages; those before the newest are only counted
	maxRunes = 160 // of a line
)

// Note tells the model of messages that were dropped: a line of each of the
// newest, and how many there were in all.
func Note(newest []chela.Waiting, all int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s sent while you were busy had to be dropped, since too many waited. In short:", count(all))
	if more := all - len(newest); more > 0 {
		fmt.Fprintf(&text, "\n- (%d older ones are left out)", more)
	}
	for _, m := range newest {
		text.WriteString("\n- " + line(m))
	}
	return text.String()
}

func count(n int) string {
	if n == 1 {
		return "One message"
	}
	return fmt.Sprintf("%d messages", n)
}

// line is a message on one short line.
func line(m chela.Waiting) string {
	text := excerpt.Runes(strings.Join(strings.Fields(m.Text), " "), maxRunes)
	if from := m.From(); from != "" {
		text = from + ": " + text
	}
	names := make([]string, 0, len(m.Attachments))
	for _, a := range m.Attachments {
		names = append(names, a.Name)
	}
	if len(names) > 0 {
		text = strings.TrimSpace(text + " [attached: " + strings.Join(names[:min(len(names), 5)], ", ") + "]")
	}
	return text
}

// Pick returns the messages at the given places.
func Pick(waiting []chela.Waiting, places []int) []chela.Waiting {
	picked := make([]chela.Waiting, 0, len(places))
	for _, i := range places {
		picked = append(picked, waiting[i])
	}
	return picked
}
