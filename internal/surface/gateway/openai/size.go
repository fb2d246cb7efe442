package openai

import (
	"fmt"

	"chela"
	"chela/internal/engine/lane"
	"chela/internal/surface/gateway/openai/wire"
)

// maxMessages is how many messages a conversation may bring: as many as OpenAI
// accepts. Each becomes an entry of the thread.
const maxMessages = 2048

// checkSize refuses messages that are too many or too long, with the codes that
// clients of OpenAI act on: they shorten the conversation, or split the message.
func checkSize(before, now []wire.Item) error {
	if len(before) > maxMessages {
		return wire.Refuse("messages", "array_above_max_length",
			chela.E(chela.Invalid, fmt.Sprintf("the conversation has %d messages, and %d are allowed", len(before), maxMessages)).
				WithHint("leave out the oldest, or use a session, which remembers them"))
	}
	if size := sizeOf(before); size > lane.MaxBroughtBytes {
		return wire.Refuse("messages", "context_length_exceeded",
			chela.E(chela.Invalid, fmt.Sprintf("the conversation has %d bytes, and %d are allowed", size, lane.MaxBroughtBytes)).
				WithHint("leave out the oldest messages, or use a session, which remembers them"))
	}
	if size := sizeOf(now); size > chela.MaxMessageBytes {
		return wire.Refuse(longest(now).Param, "string_above_max_length",
			chela.E(chela.Invalid, fmt.Sprintf("the message has %d bytes, and %d are allowed", size, chela.MaxMessageBytes)).
				WithHint("send it in parts, or attach it as a file"))
	}
	return nil
}

// sizeOf returns the bytes of the texts, as they are joined. Results of tools have
// a limit of their own.
func sizeOf(said []wire.Item) int {
	size := 0
	for _, s := range said {
		if s.Role == chela.RoleTool {
			continue
		}
		size += len(s.Text) + len("\n\n")
		if s.Role == wire.RoleSystem {
			size += len(instructed)
		}
	}
	return size
}

// longest returns the message with the longest text, of at least one.
func longest(said []wire.Item) wire.Item {
	long := said[0]
	for _, s := range said[1:] {
		if len(s.Text) > len(long.Text) {
			long = s
		}
	}
	return long
}
