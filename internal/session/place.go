package session

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"chela"
	"chela/internal/api"
)

// Scopes say which session a message belongs to that names who spoke where.
type Scopes struct {
	DM    chela.DMScope     // which direct chats share a session
	Links map[string]string // see [chela.DirectKey]
}

// Place returns a message of an agent with the session and the origin that
// belong to its sender. Direct chats share sessions as the scope says; groups and
// rooms are always apart, and so are their topics. A sender that cannot be is
// Invalid, and so is a message that names its session as well.
func (s Scopes) Place(in chela.Inbound, from api.Sender) (chela.Inbound, error) {
	if in.Session != "" || in.Thread != "" {
		return in, chela.E(chela.Invalid, "the message names a session and who it is from").WithHint("leave out session and thread, or from")
	}
	if err := checkSender(from); err != nil {
		return in, err
	}
	key := chela.Key{Kind: chela.KeyGroup, Agent: in.Agent, Channel: from.Channel, ID: from.Group}
	to := from.Group
	switch {
	case from.Room != "":
		key.Kind, key.ID, to = chela.KeyChannel, from.Room, from.Room
	case from.Group == "":
		key, to = chela.DirectKey(s.DM, in.Agent, from.Channel, from.Peer, s.Links), from.Peer
	}
	key.Thread = from.Thread
	in.Session = key.Session()
	in.Origin = chela.Origin{
		Channel: from.Channel, Account: from.Account, To: to, Thread: from.Thread, Sender: from.Peer, Owner: from.Owner,
	}
	return in, nil
}

// checkSender refuses a sender that no session could be named after.
func checkSender(from api.Sender) error {
	switch {
	case !chela.ValidName(from.Channel):
		return chela.E(chela.Invalid, fmt.Sprintf("%.64q is no channel", from.Channel)).
			WithHint(`name it with lower-case letters, digits, "_" and "-"`)
	case from.Channel == api.Channel || from.Channel == api.SocketChannel:
		return chela.E(chela.Invalid, from.Channel+" is a channel of chela itself").WithHint("name the channel that the message came from")
	case from.Peer == "":
		return chela.E(chela.Invalid, "the message does not say who it is from").WithHint("set from.peer")
	case from.Group != "" && from.Room != "":
		return chela.E(chela.Invalid, "the message is from a group and from a room").WithHint("leave out one of them")
	}
	for _, id := range []string{from.Account, from.Peer, from.Group, from.Room, from.Thread} {
		if len(id) > maxPart || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
			return chela.E(chela.Invalid, "what the message is from has an id that is none").
				WithHint(fmt.Sprintf("use up to %d bytes on one line", maxPart))
		}
	}
	return nil
}

// maxPart is the longest id of a peer, group, room, topic or account, in bytes.
const maxPart = 100
