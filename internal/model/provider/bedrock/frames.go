package bedrock

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"chela"
	"chela/internal/model/provider/wire"
)

// maxFrame bounds an event of a stream, in bytes; each event carries its own
// length.
const maxFrame = 8 << 20

// eventType is the member that holds the type of an event, which the protocol has in
// a header of the frame.
const eventType = ":event-type"

// frames reads the frames of a stream.
type frames struct{ *wire.Server }

// events yields the events of a stream, each with its type.
func (f frames) events(body io.Reader) iter.Seq2[wire.Value, error] {
	return func(yield func(wire.Value, error) bool) {
		decoder, in := eventstream.NewDecoder(), &io.LimitedReader{R: bufio.NewReader(body)}
		var buf []byte
		var event wire.JSON
		for {
			in.N = maxFrame
			frame, err := decoder.Decode(in, buf[:0])
			switch {
			case in.N == 0:
				err = f.Error(chela.Unavailable, "sent an event that is too long")
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				err = f.broken(err)
			default:
				event = event[:0]
				err = f.read(frame, &event)
			}
			if buf = frame.Payload; !yield(wire.Value(event), err) || err != nil {
				return
			}
		}
	}
}

// read writes the event of a frame, or returns the error that the frame reports.
func (f frames) read(frame eventstream.Message, event *wire.JSON) error {
	told, ok := wire.Object(frame.Payload)
	if !ok {
		return f.Unreadable("sent an event that is not JSON")
	}
	switch header(frame, ":message-type") {
	case "exception":
		label := header(frame, ":exception-type")
		if label != "" {
			label = strings.ToUpper(label[:1]) + label[1:]
		}
		return f.broke(label, told.Member("message").Text())
	case "error":
		return f.broke(header(frame, ":error-code"), header(frame, ":error-message"))
	}
	event.String(`{"`+eventType+`":`, header(frame, eventType)).Raw(",")
	if told.IsObject() {
		event.Bytes("", told[1:len(told)-1])
	}
	event.End("}")
	return nil
}

// broken returns the error for a frame that cannot be read.
func (f frames) broken(err error) error {
	var length eventstream.LengthError
	var sum eventstream.ChecksumError
	if errors.As(err, &length) || errors.As(err, &sum) {
		return f.Unreadable("sent a broken frame: " + err.Error())
	}
	return err
}

// broke classifies an error that ended an answer.
func (f frames) broke(label, message string) error {
	body, err := json.Marshal(map[string]string{"code": label, "message": message})
	if err != nil { // strings always encode
		return f.Unreadable(message)
	}
	return f.Broke(body)
}

// header returns the text of a frame's header; empty if absent.
func header(frame eventstream.Message, name string) string {
	text, ok := frame.Headers.Get(name).(eventstream.StringValue)
	if !ok {
		return ""
	}
	return string(text)
}
