package wire

import "chela"

// A responseStream is a response in pieces: a message, if there is a text, and
// calls. Each event has a number.
type responseStream struct {
	out     *sse
	id      string
	partial response
	seq     int
	text    []byte // of the message, as far as it was told
	open    bool   // the message has begun
}

// An eventHead is what all events have.
type eventHead struct {
	Type string `json:"type"`
	Seq  int    `json:"sequence_number"`
}

type responseEvent struct {
	eventHead
	Response *response `json:"response"`
}

type itemEvent struct {
	eventHead
	Output int        `json:"output_index"`
	Item   outputItem `json:"item"`
}

type partEvent struct {
	eventHead
	ItemID  string     `json:"item_id"`
	Output  int        `json:"output_index"`
	Content int        `json:"content_index"`
	Part    outputText `json:"part"`
}

type textDelta struct {
	eventHead
	ItemID   string     `json:"item_id"`
	Output   int        `json:"output_index"`
	Content  int        `json:"content_index"`
	Delta    string     `json:"delta"`
	Logprobs []struct{} `json:"logprobs"`
}

type textDone struct {
	eventHead
	ItemID   string     `json:"item_id"`
	Output   int        `json:"output_index"`
	Content  int        `json:"content_index"`
	Text     string     `json:"text"`
	Logprobs []struct{} `json:"logprobs"`
}

type argumentsDelta struct {
	eventHead
	ItemID string `json:"item_id"`
	Output int    `json:"output_index"`
	Delta  string `json:"delta"`
}

type argumentsDone struct {
	eventHead
	ItemID    string `json:"item_id"`
	Output    int    `json:"output_index"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (f responsesFormat) begin(out *sse, id string) pieces {
	s := &responseStream{out: out, id: id, partial: f.empty(id)}
	s.whole("response.created")
	s.whole("response.in_progress")
	return s
}

// head begins the next event.
func (s *responseStream) head(name string) eventHead {
	h := eventHead{Type: name, Seq: s.seq}
	s.seq++
	return h
}

// whole tells the response as far as it is.
func (s *responseStream) whole(name string) {
	s.out.send(name, &responseEvent{s.head(name), &s.partial})
}

func (s *responseStream) say(text string) {
	if !s.open {
		s.open = true
		s.item("response.output_item.added", message(s.id, "in_progress"))
		s.part("response.content_part.added", "")
	}
	s.text = append(s.text, text...)
	h := s.head("response.output_text.delta")
	s.out.send(h.Type, &textDelta{eventHead: h, ItemID: "msg_" + s.id, Delta: text, Logprobs: []struct{}{}})
}

// item tells an item at the place of the next one.
func (s *responseStream) item(name string, item outputItem) {
	s.out.send(name, &itemEvent{s.head(name), len(s.partial.Output), item})
}

func (s *responseStream) part(name, text string) {
	s.out.send(name, &partEvent{eventHead: s.head(name), ItemID: "msg_" + s.id, Part: textPart(text)})
}

// close ends the message, if it began.
func (s *responseStream) close(status string) {
	if !s.open {
		return
	}
	s.open = false
	text := string(s.text)
	h := s.head("response.output_text.done")
	s.out.send(h.Type, &textDone{eventHead: h, ItemID: "msg_" + s.id, Text: text, Logprobs: []struct{}{}})
	s.part("response.content_part.done", text)
	done := message(s.id, status, textPart(text))
	s.item("response.output_item.done", done)
	s.partial.Output = append(s.partial.Output, done)
}

func (s *responseStream) call(c chela.CallSpec) {
	begun, args := callItem(c, "in_progress", ""), Arguments(c)
	s.item("response.output_item.added", begun)
	h := s.head("response.function_call_arguments.delta")
	s.out.send(h.Type, &argumentsDelta{h, begun.ID, len(s.partial.Output), args})
	h = s.head("response.function_call_arguments.done")
	s.out.send(h.Type, &argumentsDone{h, begun.ID, len(s.partial.Output), c.Tool, args})
	done := callItem(c, "completed", args)
	s.item("response.output_item.done", done)
	s.partial.Output = append(s.partial.Output, done)
}

func (s *responseStream) end(rep Reply) {
	if !s.open && len(rep.Calls) == 0 {
		s.say("") // a response has at least one item
	}
	s.partial.finish(rep)
	s.close(s.partial.Status)
	for _, c := range rep.Calls {
		s.call(c)
	}
	s.whole("response." + s.partial.Status)
}

func (s *responseStream) fail(err error) {
	s.close("incomplete")
	s.partial.fail(err)
	s.whole("response.failed")
}
