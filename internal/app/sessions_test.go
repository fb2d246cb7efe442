package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chela"
	"chela/internal/api"
	"chela/internal/surface/cli"
)

// called runs a tool by hand as the main agent, in its main session, and returns
// what the model would read.
func called(t *testing.T, b *cli.Backend, tool, args string) string {
	t.Helper()
	r, err := api.Call(t.Context(), b, api.ToolsRun, api.ToolRequest{Name: tool, Run: api.ToolRun{Args: json.RawMessage(args)}})
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	return r.Text
}

// TestSpawn is about who may be spawned, by which model, and how many.
func TestSpawn(t *testing.T) {
	t.Parallel()
	b := openBackend(t, newHome(t, `
past_end: repeat
turns:
  - {when: hang, steps: [{text: On and on, chunk_bytes: 2, fault: {hang: true, after: 2}}]}
  - {when: /./, steps: [{text: "You said {{user}}."}]}
`, "CHELA_SUBAGENTS_MOST=1"))
	var hangs chela.JobID
	for _, tt := range []struct{ args, want string }{
		{`{"task":"look","agent_id":"nobody"}`, `{"status":"forbidden","error":"agent \"nobody\" may not be spawned from here; allowed: main"}`},
		{`{"task":"look","model":"nobody/x"}`, `"model_applied":false,"warning":"model \"nobody/x\" is not available; the default is used"`},
		{`{"task":"look","model":"offline/rules"}`, `"model_applied":true`},
		{`{"task":"hang"}`, `{"status":"accepted","child_session_key":"agent:main:subagent:job_`},
		{`{"task":"one too many"}`, `{"status":"forbidden","error":"1 subagents of this session are running already; `},
	} {
		got := called(t, b, "sessions_spawn", tt.args)
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", tt.args, got, tt.want)
		}
		var made struct {
			Run chela.JobID `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(got), &made); err != nil {
			t.Fatal(err)
		}
		if made.Run != "" && !strings.Contains(tt.args, "hang") {
			if j := jobAtRest(t, b, made.Run); j.Kind != chela.JobSubagent || j.Depth != 1 || j.State != chela.JobSubmitted {
				t.Errorf("%s became %+v", tt.args, j.Job)
			}
		}
		if strings.Contains(tt.args, "hang") {
			hangs = made.Run
		}
	}
	if got := called(t, b, "cancel_job", fmt.Sprintf(`{"job_id":%q}`, hangs)); got != "cancelled" { // or closing would wait for it
		t.Errorf("cancelled: %s", got)
	}
	if got := called(t, b, "agents_list", `{}`); got != "main" {
		t.Errorf("agents: %s", got)
	}
}

// TestSessionsSpeak has one session read another one and say something in it.
func TestSessionsSpeak(t *testing.T) {
	t.Parallel()
	b := openBackend(t, newHome(t, twoWays))
	const other = "agent:main:dm:al"
	talked(t, b, message(other, "1", "hello"))
	history := fmt.Sprintf(`{"session_key":%q}`, other)
	if got := called(t, b, "sessions_history", history); !strings.Contains(got, "\nYou said hello.") {
		t.Errorf("history: %s", got)
	}
	if got := called(t, b, "sessions_list", `{"kind":"dm"}`); !strings.HasPrefix(got, other) {
		t.Errorf("sessions: %s", got)
	}
	if got := called(t, b, "sessions_send", fmt.Sprintf(`{"session_key":%q,"text":"psst"}`, other)); got != "sent" {
		t.Errorf("sent: %s", got)
	}
	talked(t, b, message(other, "2", "what was that?")) // waits for the turn of what was sent
	if got := called(t, b, "sessions_history", history); !strings.Contains(got, "[message of session agent:main:main]\npsst") {
		t.Errorf("history: %s", got)
	}
	for tool, args := range map[string]string{
		"sessions_history": `{"session_key":"agent:main:dm:nobody"}`, "sessions_send": `{"session_key":"agent:main:dm:nobody","text":"psst"}`,
	} {
		if got := called(t, b, tool, args); !strings.HasPrefix(got, `there is no session "agent:main:dm:nobody"`) {
			t.Errorf("%s of nobody: %s", tool, got)
		}
	}
}
