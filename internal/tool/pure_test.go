package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"chela"
	"chela/internal/tool"
	"chela/internal/tool/tooltest"
)

// clock stands still on a Saturday noon.
func clock() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func TestPureContract(t *testing.T) {
	t.Parallel()
	for _, c := range []chela.Tool{tool.Echo(), tool.Time(clock, time.UTC), tool.JSON(), tool.Calc()} {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			tooltest.Check(t, c)
		})
	}
}

// A row is one call of a tool and what comes back.
type row struct {
	name, args, want string
	failed           bool
}

// runRows calls c as the turn does: the arguments are checked first.
func runRows(t *testing.T, c chela.Tool, rows []row) {
	t.Helper()
	set, err := tool.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			args, err := set.Check(c.Name, json.RawMessage(r.args))
			if err != nil {
				t.Fatalf("Check(%s): %v", r.args, err)
			}
			res, err := c.Run(t.Context(), chela.ToolCall{Tool: c.Name, Args: args})
			if err != nil {
				t.Fatalf("Run(%s): %v", args, err)
			}
			if r.failed {
				if !res.Failed || !strings.Contains(res.Text, r.want) {
					t.Errorf("Run(%s) = %+v, want a failure with %q", args, res, r.want)
				}
				return
			}
			if diff := cmp.Diff(chela.ToolResult{Text: r.want}, res); diff != "" {
				t.Errorf("Run(%s) (-want +got)\n%s", args, diff)
			}
		})
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	runRows(t, tool.Echo(), []row{{"text", `{"message":"hé\nllo"}`, "hé\nllo", false}})
}

func TestCalc(t *testing.T) {
	t.Parallel()
	runRows(t, tool.Calc(), []row{
		{"exact", `{"expression":"17.5 * 1.19"}`, "20.825", false},
		{"ratio", `{"expression":"1/3"}`, "0.333333333333333333333333333333… (exactly 1/3)", false},
		{"rounded", `{"expression":"sqrt(2)"}`, "1.4142135623731 (rounded)", false},
		{"number", `{"expression":5}`, "5", false},
		{"mistake", `{"expression":"2 +"}`, "cannot calculate: the expression ends where a number is expected", true},
		{"huge", `{"expression":"2^1000000000"}`, "too large", true},
	})
}

func TestTime(t *testing.T) {
	t.Parallel()
	noon := "2026-11-21T12:00:00Z\nSaturday, 21 November 2026, 12:00:00; zone UTC; unix 1795262400; week 2026-W47; day 325 of the year"
	tokyo := "2026-11-21T21:00:00+09:00\nSaturday, 21 November 2026, 21:00:00; zone Asia/Tokyo, JST; unix 1795262400; week 2026-W47; day 325 of the year"
	offset := "2026-11-21T14:30:00+02:30\nSaturday, 21 November 2026, 14:30:00; zone UTC+02:30; unix 1795262400; week 2026-W47; day 325 of the year"
	runRows(t, tool.Time(clock, time.UTC), []row{
		{"now", `{"operation":"now"}`, noon, false},
		{"now in Tokyo", `{"operation":"now","zone":"Asia/Tokyo"}`, tokyo, false},
		{"now at an offset", `{"operation":"now","zone":"+02:30"}`, offset, false},
		{"parse RFC 3339", `{"operation":"parse","time":"2026-11-21T21:00:00+09:00"}`, strings.ReplaceAll(tokyo, "zone Asia/Tokyo, JST", "zone UTC+09:00"), false},
		{"parse Unix", `{"operation":"parse","time":1795262400}`, noon, false},
		{"parse Unix milliseconds", `{"operation":"parse","time":"1795262400000"}`, noon, false},
		{"parse words", `{"operation":"parse","time":"21 Nov 2026 12:00"}`, noon, false},
		{"parse time of day", `{"operation":"parse","time":"9 pm","zone":"Asia/Tokyo"}`, tokyo, false},
		{"parse nothing", `{"operation":"parse"}`, "time: missing", true},
		{"parse nonsense", `{"operation":"parse","time":"soon"}`, `cannot read "soon"`, true},
		{"format", `{"operation":"format","format":"%A, %d %B %Y %H:%M %% %j %V %u"}`, "Saturday, 21 November 2026 12:00 % 325 47 6", false},
		{"format by name", `{"operation":"format","format":"date"}`, "2026-11-21", false},
		{"format unknown name", `{"operation":"format","format":"nice"}`, "there is no format", true},
		{"format unknown code", `{"operation":"format","format":"%Q"}`, "there is no code", true},
		{"format lone percent", `{"operation":"format","format":"100%"}`, "lone %", true},
		{"convert", `{"operation":"convert","time":"2026-11-21 12:00","to_zone":"Asia/Tokyo"}`, tokyo, false},
		{"convert without zone", `{"operation":"convert","time":"2026-11-21 12:00"}`, "to_zone: missing", true},
		{"unknown zone", `{"operation":"now","zone":"Tokyo"}`, `there is no zone "Tokyo"`, true},
		{"local zone", `{"operation":"now","zone":"Local"}`, "local is not known", true},
		{"zone path", `{"operation":"now","zone":"../../etc/passwd"}`, "there is no zone", true},
		{"diff", `{"operation":"diff","until":"2026-12-24"}`, "2026-12-24T00:00:00Z is later than 2026-11-21T12:00:00Z by 32 days, 12:00:00 (2808000 seconds)", false},
		{"diff backwards", `{"operation":"diff","until":"2026-11-21T11:59:59.5Z"}`, "2026-11-21T11:59:59.5Z is earlier than 2026-11-21T12:00:00Z by 0 days, 00:00:00 (0.5 seconds)", false},
		{"diff of centuries", `{"operation":"diff","time":"1000-01-01","until":"2000-01-01"}`, "2000-01-01T00:00:00Z is later than 1000-01-01T00:00:00Z by 365242 days, 00:00:00 (31556908800 seconds)", false},
		{"diff over a change of clocks", `{"operation":"diff","time":"2026-03-28 12:00","until":"2026-03-29 12:00","zone":"Europe/Berlin"}`, "2026-03-29T12:00:00+02:00 is later than 2026-03-28T12:00:00+01:00 by 0 days, 23:00:00 (82800 seconds)", false},
	})
}

// TestTimeIsTheOwners: without a zone the time is in the owner's.
func TestTimeIsTheOwners(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	const noon = "2026-11-21T13:00:00+01:00\nSaturday, 21 November 2026, 13:00:00; zone Europe/Zurich, CET; unix 1795262400; week 2026-W47; day 325 of the year"
	runRows(t, tool.Time(clock, zone), []row{
		{"nothing", `{}`, noon, false},
		{"now", `{"operation":"now"}`, noon, false},
		{"format", `{"operation":"format","time":"2026-07-01 09:00"}`, "2026-07-01T09:00:00+02:00", false},
		{"another zone", `{"operation":"format","zone":"UTC"}`, "2026-11-21T12:00:00Z", false},
	})
}

func TestZones(t *testing.T) {
	t.Parallel()
	var rows []row
	for zone, want := range map[string]string{
		"UTC": "12:00", "z": "12:00", "+2": "14:00", "UTC+2": "14:00", "gmt-3": "09:00", "-0330": "08:30", "+05": "17:00", "UTC+05:45": "17:45",
		"America/New_York": "07:00",
	} {
		rows = append(rows, row{zone, `{"operation":"format","format":"%R","zone":"` + zone + `"}`, want, false})
	}
	runRows(t, tool.Time(clock, time.UTC), rows)
}

func TestJSON(t *testing.T) {
	t.Parallel()
	data := `{"items":[{"name":"a","n":1.50},{"name":"b"}],"odd key":{"x/y":true},"0":"zero"}`
	query := func(path, want string, failed bool) row {
		args, err := json.Marshal(map[string]any{"operation": "query", "data": json.RawMessage(data), "path": path})
		if err != nil {
			t.Fatal(err)
		}
		return row{"query " + path, string(args), want, failed}
	}
	runRows(t, tool.JSON(), []row{
		query("items[0].name", "a", false),
		query("$.items[-1]", "{\n  \"name\": \"b\"\n}", false),
		query("items[*].name", "[\n  \"a\",\n  \"b\"\n]", false),
		query("items.*.n", "[\n  1.50\n]", false),
		query("/items/0/n", "1.50", false),
		query("/odd key/x~1y", "true", false),
		query(`$['odd key']["x/y"]`, "true", false),
		query("0", "zero", false),
		query("items[5]", "$.items[5]: no such item; the array has 2", true),
		query("item", "$.item: no such key; there are 0, items, odd key", true),
		query("items.name", "an array of 2 items has no key", true),
		query("items[0].name.x", `there is nothing under "a"`, true),
		query("items[x]", "[x] is no index", true),
		query("items[0", "a ] is missing", true),
		query("a..b", "cannot have ..", true),
		query("a.", "a key is missing", true),
		{"query text", `{"operation":"query","data":"{\"a\":[1,2]}","path":"a[1]"}`, "2", false},
		{"parse", `{"operation":"parse","data":"{\"b\":1,\"a\":12345678901234567890}"}`, "{\n  \"a\": 12345678901234567890,\n  \"b\": 1\n}", false},
		{"parse mistake", `{"operation":"parse","data":"{\n  \"a\": oops\n}"}`, "line 2, column 8: invalid character 'o'", true},
		{"parse cut off", `{"operation":"parse","data":"[1,"}`, "ends too early", true},
		{"parse rest", `{"operation":"parse","data":"1 2"}`, "more after", true},
		{"stringify", `{"operation":"stringify","data":{"b":"<","a":1.0}}`, `{"a":1.0,"b":"<"}`, false},
		{"stringify indented", `{"operation":"stringify","data":[1],"indent":1}`, "[\n 1\n]", false},
		{"valid", `{"operation":"validate","data":[1],"schema":{"type":"array"}}`, "valid", false},
		{"not valid", `{"operation":"validate","data":{"a":"x"},"schema":"{\"properties\":{\"a\":{\"type\":\"integer\"}}}"}`, "not valid:\n- a: expected integer, got \"x\"", false},
		{"validate without schema", `{"operation":"validate","data":1}`, "schema: missing", true},
		{"not a schema", `{"operation":"validate","data":1,"schema":{"type":"strong"}}`, "not a JSON Schema", true},
	})
}

func TestJSONRefusesSchemasThatExplode(t *testing.T) {
	t.Parallel()
	bomb := `{"$ref":"#/$defs/d0","$defs":{`
	for i := range 40 {
		next := `{"$ref":"#/$defs/d` + string(json.RawMessage(jsonNumber(i+1))) + `"}`
		bomb += `"d` + jsonNumber(i) + `":{"allOf":[` + next + `,` + next + `]},`
	}
	bomb += `"d40":{"type":"string"}}}`
	runRows(t, tool.JSON(), []row{
		{"doubling", `{"operation":"validate","data":1,"schema":` + bomb + `}`, "too large, or refers to itself", true},
		{"circle", `{"operation":"validate","data":1,"schema":{"$ref":"#"}}`, "only references of the form", true},
		{"itself", `{"operation":"validate","data":1,"schema":{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}}`, "refers to itself", true},
		{"file", `{"operation":"validate","data":1,"schema":{"$ref":"file:///etc/passwd"}}`, "only references of the form", true},
		{"pattern", `{"operation":"validate","data":"` + strings.Repeat("a", 1000) + `!","schema":{"pattern":"^(a+)+$"}}`, "not valid:\n- arguments: expected text that matches ^(a+)+$, got \"" + strings.Repeat("a", 60) + "…\"", false},
	})
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n) // an int always encodes
	return string(text)
}
