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

// A responseEvent is an event of a stream. Each type has some of the fields.
type responseEvent struct {
	Type      string      `json:"type"`
	Seq       int         `json:"sequence_number"`
	Response  *response   `json:"response,omitempty"`
	ItemID    string      `json:"item_id,omitempty"`
	Output    *int        `json:"output_index,omitempty"`
	Content   *int        `json:"content_index,omitempty"`
	Item      *outputItem `json:"item,omitempty"`
	Part      *outputText `json:"part,omitempty"`
	Delta     *string     `json:"delta,omitempty"`
	Text      *string     `json:"text,omitempty"`
	Name      string      `json:"name,omitempty"`
	Arguments *string     `json:"arguments,omitempty"`
	Logprobs  []struct{}  `json:"logprobs,omitzero"`
}

func (f responsesFormat) begin(out *sse, id string) pieces {
	s := &responseStream{out: out, id: id, partial: f.empty(id)}
	s.whole("response.created")
	s.whole("response.in_progress")
	return s
}

// send sends the next event.
func (s *responseStream) send(e responseEvent) {
	e.Seq = s.seq
	s.seq++
	s.out.send(e.Type, &e)
}

// ofText sends an event of the message, which is the first item.
func (s *responseStream) ofText(e responseEvent) {
	e.ItemID, e.Output, e.Content = "msg_"+s.id, new(0), new(0)
	s.send(e)
}

// whole tells the response as far as it is.
func (s *responseStream) whole(name string) {
	s.send(responseEvent{Type: name, Response: &s.partial})
}

func (s *responseStream) say(text string) {
	if !s.open {
		s.open = true
		s.item("response.output_item.added", message(s.id, "in_progress"))
		s.part("response.content_part.added", "")
	}
	s.text = append(s.text, text...)
	s.ofText(responseEvent{Type: "response.output_text.delta", Delta: &text, Logprobs: []struct{}{}})
}

// item tells an item at the place of the next one.
func (s *responseStream) item(name string, item outputItem) {
	s.send(responseEvent{Type: name, Output: new(len(s.partial.Output)), Item: &item})
}

func (s *responseStream) part(name, text string) {
	s.ofText(responseEvent{Type: name, Part: new(textPart(text))})
}

// close ends the message, if it began.
func (s *responseStream) close(status string) {
	if !s.open {
		return
	}
	s.open = false
	text := string(s.text)
	s.ofText(responseEvent{Type: "response.output_text.done", Text: &text, Logprobs: []struct{}{}})
	s.part("response.content_part.done", text)
	s.done(message(s.id, status, textPart(text)))
}

// done ends an item.
func (s *responseStream) done(item outputItem) {
	s.item("response.output_item.done", item)
	s.partial.Output = append(s.partial.Output, item)
}

func (s *responseStream) call(c chela.CallSpec) {
	begun, args := callItem(c, "in_progress", ""), Arguments(c)
	s.item("response.output_item.added", begun)
	place := new(len(s.partial.Output))
	s.send(responseEvent{Type: "response.function_call_arguments.delta", ItemID: begun.ID, Output: place, Delta: &args})
	s.send(responseEvent{Type: "response.function_call_arguments.done", ItemID: begun.ID, Output: place, Name: c.Tool, Arguments: &args})
	s.done(callItem(c, "completed", args))
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
