package safety

// This part of the package derives the provenance of messages, entries and prompts:
// who could have written them. The type is [chela.Provenance].

import (
	"cmp"
	"strings"
	"unicode"

	"chela"
)

// Outside returns the provenance of a text of unknown authorship. The source is
// reduced to one short line without control characters.
func Outside(source string) chela.Provenance {
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(source, ""))
	return chela.Provenance{Integrity: chela.IntegrityOutside, Source: chela.TitleOf(line)}
}

// ProvenanceAfter returns the provenance of a prompt after an entry is appended. The
// provenance of a compaction covers the entries that it replaced, which
// preceded all others.
func ProvenanceAfter(p chela.Provenance, e chela.Entry) chela.Provenance {
	if e.Kind() == chela.EntryCompaction {
		return e.Provenance().With(p)
	}
	return p.With(e.Provenance())
}

// ProvenanceOfEntries returns the provenance of a prompt that consists of entries.
func ProvenanceOfEntries(entries []chela.Entry) (p chela.Provenance) {
	for _, e := range entries {
		p = ProvenanceAfter(p, e)
	}
	return p
}

// ProvenanceOfMessage returns the provenance of a message. Messages sent by the system
// itself carry theirs. Messages of anyone but the owner, attachments and
// imported conversations are from outside.
func ProvenanceOfMessage(in chela.Inbound) chela.Provenance {
	switch {
	case in.Origin.Provenance.IsOutside():
		return in.Origin.Provenance
	case in.Origin.Principal(in.Session) != chela.PrincipalOwner:
		return Outside("a message of " + cmp.Or(in.Origin.Sender, "a guest") + " on " + cmp.Or(in.Origin.Channel, "no channel"))
	case len(in.Attachments) > 0:
		return Outside("the attachment " + in.Attachments[0].Name)
	case len(in.History) > 0:
		return Outside("an imported conversation")
	default:
		return chela.Provenance{}
	}
}
