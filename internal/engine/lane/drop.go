package lane

import (
	"fmt"
	"strings"

	"chela"
	"chela/internal/platform/excerpt"
)

// overflow decides which messages to drop when the newest one exceeds the cap;
// the newest message's settings apply. It returns the indices of the dropped
// messages, oldest first, or none. Messages of mode queue are never dropped,
// and announcements of chela do not count toward the cap. If no message can be
// dropped, the newest one is refused with an Exhausted error.
func overflow(waiting []chela.InboxMessage) (drop []int, err error) {
	newest := waiting[len(waiting)-1]
	over := -newest.Queue.Cap
	for _, m := range waiting {
		if m.Queue.Drop != chela.DropNever {
			over++
		}
	}
	if over <= 0 || newest.Queue.Drop == chela.DropNever {
		return nil, nil
	}
	if newest.Queue.Mode != chela.QueuePlain && newest.Queue.Drop != chela.DropNew {
		for i := 0; i < len(waiting)-1 && len(drop) < over; i++ {
			if waiting[i].Queue.Mode != chela.QueuePlain && waiting[i].Queue.Drop != chela.DropNever {
				drop = append(drop, i)
			}
		}
	}
	if len(drop) < over {
		return nil, chela.Ef(chela.Exhausted, "%d messages already wait in this session", over+newest.Queue.Cap-1).
			WithHint("wait for an answer, or stop the running turn")
	}
	return drop, nil
}

// Limits of a note about dropped messages.
const (
	maxNoteLines = 50  // messages listed; older ones are only counted
	maxNoteRunes = 160 // characters per line
)

// droppedNote tells the model about dropped messages: a line for each of the
// newest, and the total number.
func droppedNote(newest []chela.InboxMessage, all int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s sent while you were busy had to be dropped, since too many waited. In short:", count(all))
	if more := all - len(newest); more > 0 {
		fmt.Fprintf(&text, "\n- (%d older ones are left out)", more)
	}
	for _, m := range newest {
		text.WriteString("\n- " + noteLine(m))
	}
	return text.String()
}

func count(n int) string {
	if n == 1 {
		return "One message"
	}
	return fmt.Sprintf("%d messages", n)
}

// noteLine summarizes a message on one short line.
func noteLine(m chela.InboxMessage) string {
	text := excerpt.Runes(strings.Join(strings.Fields(m.Text), " "), maxNoteRunes)
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

// pick returns the messages at the given indices.
func pick(waiting []chela.InboxMessage, places []int) []chela.InboxMessage {
	picked := make([]chela.InboxMessage, 0, len(places))
	for _, i := range places {
		picked = append(picked, waiting[i])
	}
	return picked
}
