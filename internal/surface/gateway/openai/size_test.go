package openai_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"chela"
)

// TestManySmallMessagesTakeLinearWork compares the bytes allocated for n and for 4n
// messages: a text that grows by copying takes sixteen times as much. It is not
// parallel, as allocations are counted for the whole process.
func TestManySmallMessagesTakeLinearWork(t *testing.T) { //nolint:paralleltest // counts allocations of the process
	for _, c := range []struct{ name, path, model, field, item, last string }{
		{"user", chat, "chela", "messages", `{"role":"user","content":"x"}`, `{"role":"user","content":"x"}`},
		{"system", chat, "chela", "messages", `{"role":"system","content":"x"}`, `{"role":"user","content":"x"}`},
		{"system of a bare model", chat, "local/small", "messages", `{"role":"system","content":"x"}`, `{"role":"user","content":"x"}`},
		{"assistant", chat, "chela", "messages", `{"role":"assistant","content":"x"}`, `{"role":"user","content":"x"}`},
		{"items of the assistant", responses, "chela", "input", `{"role":"assistant","content":"x"}`, `{"role":"user","content":"x"}`},
		{"parts", chat, "chela", "messages", "", `{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 999) + `{"type":"text","text":"x"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			allocated := func(n int) float64 {
				items := c.item + ","
				if c.item == "" {
					items = ""
				}
				body := fmt.Sprintf(`{"model":%q,%q:[%s%s]}`, c.model, c.field, strings.Repeat(items, n), c.last)
				if c.item == "" { // one message of many parts
					body = fmt.Sprintf(`{"model":%q,%q:[%s]}`, c.model, c.field, strings.Repeat(c.last+",", n/1000)+c.last)
				}
				routes := setup(newHome(said("ok")), small(chela.Finish{Text: "ok"}, nil))
				r := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(body))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				routes.ServeHTTP(nobody{http.Header{}}, r)
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			few, many := allocated(5_000), allocated(20_000)
			if ratio := many / few; ratio > 6 {
				t.Errorf("four times the messages take %.1f times the memory (%.0f and %.0f bytes)", ratio, few, many)
			}
		})
	}
}

// TestWhatIsTooLongHasTheCodeOfOpenAI checks the codes on which clients shorten
// what they send.
func TestWhatIsTooLongHasTheCodeOfOpenAI(t *testing.T) {
	t.Parallel()
	user := func(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
	assistant := func(text string) string { return fmt.Sprintf(`{"role":"assistant","content":%q}`, text) }
	long := strings.Repeat("x", chela.MaxMessageBytes+1)
	for name, c := range map[string]struct{ messages, code, param string }{
		"one message":     {user("a") + "," + user(long), "string_above_max_length", "messages[1]"},
		"many together":   {strings.Repeat(user(long[:10_000])+",", 10) + user("a"), "string_above_max_length", "messages[0]"},
		"many in history": {strings.Repeat(user("x")+",", 2048) + assistant("y") + "," + user("x"), "array_above_max_length", "messages"},
		"long history":    {strings.Repeat(user(long)+",", 11) + assistant("y") + "," + user("x"), "context_length_exceeded", "messages"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(said("ok"))
			got := troubleOf(t, post(setup(h, &shelf{}), chat, `{"model":"chela","messages":[`+c.messages+`]}`))
			if diff := cmp.Diff([]string{"400", c.code, c.param}, []string{fmt.Sprint(got.Status), got.Code, got.Param}); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if len(h.asked) > 0 {
				t.Error("the message was accepted")
			}
		})
	}
}
