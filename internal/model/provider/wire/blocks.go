package wire

import (
	"strings"

	"chela"
)

// Blocks accumulates an answer that consists of blocks, of which each has an index.
// The zero Blocks is empty.
type Blocks struct {
	list []*Block // in their order
	at   map[int64]*Block
}

// A Block is a part of an answer: a text, thinking or a call.
type Block struct {
	Kind      string // as the protocol names it
	Call      bool
	ID, Name  string // of a call
	Input     string // arguments of a call that came at once; Args wins
	Args      strings.Builder
	Text      strings.Builder
	Thinking  strings.Builder
	Signature strings.Builder
	Redacted  strings.Builder // encrypted thinking
}

// Begin begins the block at an index.
func (b *Blocks) Begin(index int64) *Block {
	made := &Block{}
	if b.at == nil {
		b.at = map[int64]*Block{}
	}
	b.at[index] = made
	b.list = append(b.list, made)
	return made
}

// At returns the block at an index; nil if none has begun.
func (b *Blocks) At(index int64) *Block { return b.at[index] }

// Take applies a piece of a member of a block and emits it.
func (b *Block) Take(to *strings.Builder, piece string, emit EmitFunc) {
	to.WriteString(piece)
	switch to {
	case &b.Text:
		emit(chela.Chunk{Text: piece})
	case &b.Thinking:
		emit(chela.Chunk{Thinking: piece})
	default:
		emit(chela.Chunk{Unseen: len(piece)})
	}
}

// Finish adds the blocks to the finish of an answer to a protocol of a kind; see
// [Finish].
func (b *Blocks) Finish(f *chela.Finish, kind string, told chela.StopReason) *chela.Finish {
	var said strings.Builder
	for _, block := range b.list {
		if block.Call {
			args := block.Args.String()
			if args == "" {
				args = block.Input
			}
			f.Calls = append(f.Calls, Call(block.ID, block.Name, args))
		}
		if block.Redacted.Len() > 0 {
			f.Thinking = append(f.Thinking, chela.Thinking{Redacted: block.Redacted.String(), Provider: kind})
		}
		if block.Thinking.Len() > 0 || block.Signature.Len() > 0 {
			f.Thinking = append(f.Thinking, chela.Thinking{Text: block.Thinking.String(), Signature: block.Signature.String(), Provider: kind})
		}
		said.WriteString(block.Text.String())
	}
	f.Text = said.String()
	return Finish(f, told)
}
