package prompt

import (
	"fmt"
	"slices"
	"strings"

	"chela"
)

// How many attachments a prompt shows. What is over leaves in one step, down to
// the messages that stay, so that the beginning of the prompt does not change
// with every new picture.
const (
	maxCarriers   = 4        // messages that may show attachments
	keptCarriers  = 2        // the newest that stay when some must leave, and the newest of a person
	maxShownCount = 20_000   // tokens of all attachments together, as far as one message alone does not take more
	maxShownBytes = 20 << 20 // bytes of them, which is about what a request may have
)

// perLeft is what the line takes that stands for an attachment, in tokens.
const perLeft = 30

// attachmentTokens returns about what providers count for an attachment: text is
// put into the prompt whole, of the rest a picture of middle size is assumed.
func attachmentTokens(a chela.Attachment) int {
	if a.IsText() {
		return perLeft + int(a.Size/3)
	}
	return perAttachment
}

// leftLines is what stands in a message for attachments that have left.
func leftLines(all []chela.Attachment) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "\n[attachment %q, %s, %d bytes: not shown any more]", a.Name, a.MediaType, a.Size)
	}
	return b.String()
}

// shed lets attachments of older messages leave when there are too many. It is
// asked after each message with attachments, so what is shown follows from the
// messages alone.
func (c Conversation) shed() Conversation {
	var carriers []int // newest first
	for i, m := range slices.Backward(c.Messages) {
		if len(m.Attachments) > 0 {
			carriers = append(carriers, i)
		}
	}
	if len(carriers) <= maxCarriers && c.room(carriers) {
		return c
	}
	keep := min(keptCarriers, len(carriers))
	for keep > 1 && !c.room(carriers[:keep]) {
		keep--
	}
	leaving := carriers[keep:]
	newest := slices.IndexFunc(leaving, func(i int) bool { return c.Messages[i].Role == chela.RoleUser })
	said := slices.ContainsFunc(carriers[:keep], func(i int) bool { return c.Messages[i].Role == chela.RoleUser })
	// Others may still read what the conversation was.
	c.Messages, c.Parts = slices.Clone(c.Messages), slices.Clone(c.Parts)
	for n, i := range leaving {
		if n == newest && !said {
			continue
		}
		c = c.leave(i)
	}
	return c
}

// room reports whether there is room for the attachments of some messages.
func (c Conversation) room(carriers []int) bool {
	tokens, bytes := 0, int64(0)
	for _, i := range carriers {
		for _, a := range c.Messages[i].Attachments {
			tokens += attachmentTokens(a)
			bytes += a.Size
		}
	}
	return tokens <= maxShownCount && bytes <= maxShownBytes
}

// leave puts lines in the place of the attachments of a message.
func (c Conversation) leave(i int) Conversation {
	m, p := &c.Messages[i], &c.Parts[i]
	for _, a := range m.Attachments {
		p.Shed += attachmentTokens(a) - perLeft
	}
	p.Left = m.Attachments
	m.Text, m.Attachments = m.Text+leftLines(p.Left), nil
	p.Tokens -= p.Shed
	c.Tokens -= p.Shed
	return c
}

// whole returns a message and its part as they were before attachments left.
func whole(m chela.Message, p Part) (chela.Message, Part) {
	if len(p.Left) > 0 {
		m.Text, m.Attachments = strings.TrimSuffix(m.Text, leftLines(p.Left)), p.Left
		p.Tokens, p.Shed, p.Left = p.Tokens+p.Shed, 0, nil
	}
	return m, p
}
