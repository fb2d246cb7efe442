package transcript_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/engine/transcript"
)

// FuzzRead reads anything: what is taken is well-formed, and the same after it
// was written and read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add([]byte(head + user + call + result("c", "b")))
	f.Add([]byte(own + user))
	f.Fuzz(func(t *testing.T, file []byte) {
		first, err := transcript.Read(bytes.NewReader(file))
		if err != nil {
			if chela.KindOf(err) != chela.Invalid {
				t.Errorf("%s: %v", chela.KindOf(err), err)
			}
			return
		}
		wellFormed(t, first)
		first.Thread = "thr_1" // files of others name none
		var written bytes.Buffer
		if err := transcript.Write(t.Context(), &written, first, nil); err != nil {
			t.Fatal(err)
		}
		second, err := transcript.Read(bytes.NewReader(written.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, written.Bytes())
		}
		var again bytes.Buffer
		if err := transcript.Write(t.Context(), &again, second, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(written.String(), again.String()); diff != "" {
			t.Errorf("written again it differs (-want +got):\n%s", diff)
		}
	})
}

// wellFormed checks what Read promises.
func wellFormed(t *testing.T, tr transcript.Transcript) {
	t.Helper()
	open := map[chela.EntryID]map[chela.CallID]bool{"": {}}
	below := map[chela.EntryID]bool{}
	for _, e := range tr.Entries {
		waits, known := open[e.Parent]
		if !known || e.ID == "" || e.Turn == "" || open[e.ID] != nil {
			t.Fatalf("entry %+v", e)
		}
		left := map[chela.CallID]bool{}
		for id := range waits {
			left[id] = true
		}
		switch e.Kind() {
		case chela.EntryToolResult:
			if !left[e.Result().Call] || !e.Result().Status.Ended() {
				t.Fatalf("the result %+v answers nothing", e)
			}
			delete(left, e.Result().Call)
		case chela.EntryCustom:
		default:
			if len(left) > 0 {
				t.Fatalf("calls wait above %+v", e)
			}
		}
		for _, c := range e.Answer().Calls {
			left[c.ID] = true
		}
		open[e.ID], below[e.Parent] = left, true
	}
	for id, waits := range open {
		if len(waits) > 0 && !below[id] {
			t.Fatalf("calls wait below %s", id)
		}
	}
	if len(open[tr.Head]) > 0 || len(tr.Turns) == 0 {
		t.Fatalf("head %s, turns %+v", tr.Head, tr.Turns)
	}
}
