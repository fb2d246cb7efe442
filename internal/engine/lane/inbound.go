package lane

import (
	"strings"
	"unicode/utf8"

	"chela"
)

// CheckInbound returns an Invalid error if a message cannot be accepted, and an
// Internal one if a field set by chela itself is missing.
func CheckInbound(in chela.Inbound) error {
	key, err := chela.ParseSessionKey(in.Session)
	if err != nil {
		return err
	}
	switch {
	case len(in.Text) > chela.MaxMessageBytes:
		return chela.Ef(chela.Invalid, "the message has %d bytes; the limit is %d", len(in.Text), chela.MaxMessageBytes).
			WithHint("send it in parts, or put it into a file")
	case !utf8.ValidString(in.Text):
		return chela.E(chela.Invalid, "the message is not valid UTF-8").WithHint("convert it, for example with iconv -t utf-8")
	case strings.ContainsRune(in.Text, 0):
		return chela.E(chela.Invalid, "the message has a NUL character in it").WithHint("send text, or attach it as a file")
	case strings.TrimSpace(in.Text) == "" && in.Command == "" && len(in.Attachments) == 0 && len(in.Results) == 0:
		return chela.E(chela.Invalid, "the message is empty").WithHint("write some text")
	case in.Origin.Channel == "" || in.MessageID == "":
		return chela.E(chela.Internal, "a message came without its channel or id")
	case in.Agent != "" && key.Agent != "" && key.Agent != in.Agent:
		return chela.Ef(chela.Invalid, "the session belongs to agent %s", key.Agent).WithHint("leave the agent out")
	case in.Agent == "":
		return chela.E(chela.Internal, "a message came without an agent")
	}
	settings := in.Queue
	if settings.Drop == chela.DropNever { // only chela itself can have set it
		settings.Drop = ""
	}
	if err := settings.Check(); err != nil {
		return err
	}
	return checkBrought(in)
}

// Dropped returns the error for a caller waiting for the answer to a message
// that overflowed the queue.
func Dropped() error {
	return chela.E(chela.Exhausted, "the message was dropped: too many wait in this session").WithHint("send it again later")
}
