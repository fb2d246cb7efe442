package turn

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSilent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reply string
		want  bool
	}{
		{"NO_REPLY", true},
		{"  NO_REPLY\n", true},
		{"NO_REPLY.", true},
		{"NO_REPLY...", true},
		{"**NO_REPLY**", true},
		{"`NO_REPLY`", true},
		{"_NO_REPLY_", true},
		{"__NO_REPLY__", true},
		{"~~NO_REPLY~~", true},
		{"\"NO_REPLY\"", true},
		{"“NO_REPLY”", true},
		{"«NO_REPLY»", true},
		{"(NO_REPLY)", true},
		{"[NO_REPLY]", true},
		{"> NO_REPLY", true},
		{"# NO_REPLY", true},
		{"- NO_REPLY", true},
		{`NO\_REPLY`, true},
		{"```\nNO_REPLY\n```", true},
		{"```text\r\nNO_REPLY\r\n```", true},
		{"<b>NO_REPLY</b>", true},
		{`<p class="x"><code>NO_REPLY</code></p>`, true},
		{"&quot;NO_REPLY&quot;", true},
		{"&#8203;NO_REPLY", true},
		{"<NO_REPLY/>", true},
		{"<!-- nobody asked -->NO_REPLY", true},
		{"\ufeffNO_REPLY\u200b", true},
		{"\u00a0\u3000NO_REPLY\u2029", true},
		{"NO_REPLY\nNO_REPLY", true},
		{"NO_REPLY 🤐", true},
		{"", false},
		{"no_reply", false},
		{"No_Reply", false},
		{"NO REPLY", false},
		{"NO-REPLY", false},
		{"NOREPLY", false},
		{"NO_REPLYS", false},
		{"XNO_REPLY", false},
		{"NO_REPLY_2", false},
		{"1 NO_REPLY", false},
		{"NO_REPLY The disk is full.", false},
		{"The disk is full. NO_REPLY", false},
		{"I answer NO_REPLY", false},
		{"NO_REPLY 磁盘已满", false},
		{"```NO_REPLY is not for code```", false},
		{"HEARTBEAT_OK", false},
	}
	for _, test := range tests {
		if got := Silent(test.reply); got != test.want {
			t.Errorf("%q: got %v, want %v", test.reply, got, test.want)
		}
	}
}

// okay is what is read from a reply that has an OK and a few more words.
func okay(text string) ParsedReply { return ParsedReply{Silent: true, OK: true, Text: text} }

// told is what is read from a reply without any sentinel.
func told(text string) ParsedReply { return ParsedReply{Text: text} }

func TestOKAtTheEdges(t *testing.T) {
	t.Parallel()
	tests := map[string]ParsedReply{
		"HEARTBEAT_OK":                             okay(""),
		"ROUTINE_OK":                               okay(""),
		" \u00a0HEARTBEAT_OK\u3000\n":              okay(""),
		"HEARTBEAT_OK.":                            okay(""),
		"HEARTBEAT_OK...":                          okay(""),
		"HEARTBEAT_OK ✅":                           okay(""),
		"**HEARTBEAT_OK**":                         okay(""),
		"`HEARTBEAT_OK`":                           okay(""),
		"\"HEARTBEAT_OK.\"":                        okay(""),
		`HEARTBEAT\_OK`:                            okay(""),
		"<b>HEARTBEAT_OK</b>":                      okay(""),
		"```\nHEARTBEAT_OK\n```":                   okay(""),
		"HEARTBEAT_OK HEARTBEAT_OK":                okay(""),
		"HEARTBEAT_OK\n\nROUTINE_OK.":              okay(""),
		"NO_REPLY HEARTBEAT_OK":                    okay(""),
		"HEARTBEAT_OK all quiet":                   okay("all quiet"),
		"HEARTBEAT_OK: all quiet":                  okay("all quiet"),
		"HEARTBEAT_OK - all quiet":                 okay("all quiet"),
		"HEARTBEAT_OK — alles ruhig.":              okay("alles ruhig."),
		"HEARTBEAT_OK—alles ruhig.":                okay("—alles ruhig."),
		"HEARTBEAT_OK。一切正常。":                       okay("一切正常。"),
		"HEARTBEAT_OK一切正常":                         okay("一切正常"),
		"**HEARTBEAT_OK** — all quiet":             okay("all quiet"),
		"**HEARTBEAT_OK.**\nAll quiet":             okay("All quiet"),
		"**HEARTBEAT_OK: all quiet**":              okay("all quiet"),
		"<p><b>HEARTBEAT_OK</b></p>\n<p>Quiet</p>": okay("<p>Quiet</p>"),
		"HEARTBEAT_OK\n\n- one\n- two":             okay("- one\n- two"),
		"HEARTBEAT_OK\n\n**All** is **well**":      okay("**All** is **well**"),
		"```text\nHEARTBEAT_OK\n```\nAll quiet":    okay("All quiet"),
		"All quiet. HEARTBEAT_OK":                  okay("All quiet."),
		"All quiet.\n\nHEARTBEAT_OK.":              okay("All quiet."),
		"All quiet\nHEARTBEAT_OK":                  okay("All quiet"),
		"All quiet — HEARTBEAT_OK":                 okay("All quiet"),
		"All quiet.**HEARTBEAT_OK**":               okay("All quiet."),
		"All quiet ✅ **HEARTBEAT_OK**.":            okay("All quiet ✅"),
		"**All quiet. HEARTBEAT_OK**":              okay("All quiet."),
		"<p>All quiet</p><p>HEARTBEAT_OK</p>":      okay("<p>All quiet</p>"),
		"All quiet<br/>HEARTBEAT_OK":               okay("All quiet<br/>"),
		"一切正常。HEARTBEAT_OK":                        okay("一切正常。"),
		"सब ठीक है। HEARTBEAT_OK":                  okay("सब ठीक है।"),
		"كل شيء هادئ؟ ROUTINE_OK":                  okay("كل شيء هادئ؟"),
		"HEARTBEAT_OK\nAll quiet.\nHEARTBEAT_OK":   okay("All quiet."),
		"HEARTBEAT_OK " + strings.Repeat("é", 300): okay(strings.Repeat("é", 300)),
		"HEARTBEAT_OK " + strings.Repeat("é", 301): {OK: true, Text: strings.Repeat("é", 301)},
		"":             {Silent: true},
		" \n":          {Silent: true},
		"**NO_REPLY**": {Silent: true},
	}
	for reply, want := range tests {
		if diff := cmp.Diff(want, ParseReply(reply, 300)); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", reply, diff)
		}
	}
}

// Words that are no sentinel stay, and are told.
func TestNoCue(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"All quiet.",
		"The disk is full, so HEARTBEAT_OK would be wrong.",
		"I cannot say HEARTBEAT_OK",
		"I cannot say HEARTBEAT_OK.",
		"I cannot say **HEARTBEAT_OK**.",
		"I cannot say \"HEARTBEAT_OK\".",
		"I cannot say &quot;HEARTBEAT_OK&quot;.",
		"I cannot say <b class=\"x.y\">HEARTBEAT_OK</b>",
		"Nicht mehr HEARTBEAT_OK",
		"不能说HEARTBEAT_OK",
		"HEARTBEAT_OKAY",
		"HEARTBEAT_OKs are missing",
		"HEARTBEAT_OK_2 failed",
		"HEARTBEAT_OK-ish",
		"HEARTBEAT_OK.md is missing",
		"HEARTBEAT_OK's meaning",
		"HEARTBEAT_OK입니다",
		"MY_HEARTBEAT_OK",
		"Look at sentinels.HEARTBEAT_OK",
		"Look at https://example.com/HEARTBEAT_OK",
		"heartbeat_ok",
		"Heartbeat_OK",
		"HEARTBEAT OK",
		"1 HEARTBEAT_OK",
		"NO_REPLY The disk is full.",
		"The disk is full.\nNO_REPLY",
		"Please [NOTIFY] me.",
		"[notify] The disk is full.",
		"[NOTIFY The disk is full.",
		"👍",
	} {
		if diff := cmp.Diff(told(reply), ParseReply(reply, 300)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", reply, diff)
		}
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	tests := map[string]ParsedReply{
		"[NOTIFY] The disk is full.":                    {Notify: true, Text: "The disk is full."},
		"[NOTIFY]The disk is full.":                     {Notify: true, Text: "The disk is full."},
		"[NOTIFY]: The disk is full.":                   {Notify: true, Text: "The disk is full."},
		"**[NOTIFY]** The disk is full.":                {Notify: true, Text: "The disk is full."},
		"**[NOTIFY] The disk is full.**":                {Notify: true, Text: "The disk is full."},
		"<p>[NOTIFY] The disk is full.</p>":             {Notify: true, Text: "The disk is full."},
		"`[NOTIFY]` The disk is full.":                  {Notify: true, Text: "The disk is full."},
		`\[NOTIFY\] The disk is full.`:                  {Notify: true, Text: "The disk is full."},
		"\n[NOTIFY]\n\n- one\n- two\n":                  {Notify: true, Text: "- one\n- two"},
		"[NOTIFY] 磁盘已满。":                                {Notify: true, Text: "磁盘已满。"},
		"[NOTIFY] 🔥":                                    {Notify: true, Text: "🔥"},
		"[NOTIFY] [NOTIFY] The disk is full.":           {Notify: true, Text: "The disk is full."},
		"[NOTIFY] HEARTBEAT_OK. The disk is full again": {Notify: true, OK: true, Text: "The disk is full again"},
		"HEARTBEAT_OK\n[NOTIFY] The disk is full.":      {Notify: true, OK: true, Text: "The disk is full."},
		"[NOTIFY] The disk is full.\nROUTINE_OK":        {Notify: true, OK: true, Text: "The disk is full."},
		"[NOTIFY]":                                      {Silent: true, Notify: true},
		"[NOTIFY] HEARTBEAT_OK":                         {Silent: true, Notify: true, OK: true},
		"[NOTIFY] NO_REPLY":                             {Silent: true, Notify: true},
	}
	for reply, want := range tests {
		if diff := cmp.Diff(want, ParseReply(reply, 300)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", reply, diff)
		}
	}
}

// What may become a silent reply is known from its first character on.
func TestMaySilence(t *testing.T) {
	t.Parallel()
	for beginning, want := range map[string]bool{
		"": true, "N": true, "**NO_RE": true, "`NO_REPLY`.": true, `NO\_`: true, "NO_REPLY\nNO_": true, "\n\n- ": true,
		"No": false, "NO_REPLY, but": false, "NOT": false, "n": false, "Hello": false, "<b>NO": true, strings.Repeat("-", 100): false,
	} {
		if got := maySilence(beginning); got != want {
			t.Errorf("%q: got %v, want %v", beginning, got, want)
		}
	}
	for _, reply := range []string{"NO_REPLY", "**NO_REPLY**", "NO\\_REPLY.", "```\nNO_REPLY\n```", "NO_REPLY NO_REPLY"} {
		for n := range len(reply) + 1 {
			if Silent(reply) && !maySilence(reply[:n]) {
				t.Errorf("%q is shown of %q", reply[:n], reply)
			}
		}
	}
}

// Without room for more words, an OK is silent alone.
func TestNoRoomBesideOK(t *testing.T) {
	t.Parallel()
	tests := map[string]ParsedReply{
		"ROUTINE_OK":           okay(""),
		"ROUTINE_OK ✅":         okay(""),
		"ROUTINE_OK all quiet": {OK: true, Text: "all quiet"},
	}
	for reply, want := range tests {
		if diff := cmp.Diff(want, ParseReply(reply, 0)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", reply, diff)
		}
	}
}

// A reply that is long and has nothing but sentinels does not keep anybody busy.
func TestManyCues(t *testing.T) {
	t.Parallel()
	got := ParseReply(strings.Repeat("HEARTBEAT_OK\n", 8_000), 300)
	if !got.OK || got.Silent {
		t.Errorf("got OK %v, silent %v", got.OK, got.Silent)
	}
}

func FuzzParseReply(f *testing.F) {
	for _, reply := range []string{
		"HEARTBEAT_OK", "**[NOTIFY]** x HEARTBEAT_OK.", "```text\nNO_REPLY\n```", "<p>a.</p><p>ROUTINE_OK</p>", "All. “HEARTBEAT_OK”", "<b x>[NOTIFY] \xff</b>",
		"(HEARTBEAT_OK) - x", "&amp;HEARTBEAT\\_OK\u200b", "<!-- HEARTBEAT_OK --> x", "NO_REPLY NO_REPLY",
	} {
		f.Add(reply, 300)
	}
	f.Fuzz(func(t *testing.T, reply string, ackMax int) {
		c := ParseReply(reply, ackMax)
		if !strings.Contains(reply, c.Text) {
			t.Errorf("%q is no part of %q", c.Text, reply)
		}
		if c.Text == "" && !c.Silent {
			t.Errorf("%q has nothing to tell and is not silent", reply)
		}
		if !c.OK && !c.Notify && !Silent(reply) && c.Text != "" && c.Silent {
			t.Errorf("%q has no sentinel and is silent", reply)
		}
		if Silent(reply) && !c.Silent {
			t.Errorf("%q is silent alone, but not when it is read", reply)
		}
	})
}
