//go:build failpoint

package app

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// labelMutants are the planted defects of labels, each with a way of testdata/obedient.json
// by which it is noticed: the defect "label x" drops the label at one place (see
// safety.Label), and "table x" lets the labels ask about no call with the act x.
var labelMutants = map[string]string{
	"label result":         "page",
	"label answer":         "answer to a document",
	"label summary":        "compaction",
	"label document":       "document",
	"label identity":       "identity",
	"label create_job":     "ordered job",
	"label sessions_spawn": "ordered subagent",
	"label ending":         "job result|subagent result",
	"label routine_create": "routine",
	"label routine_update": "changed routine",
	"label event":          "webhook|webhook query|webhook header",
	"label note":           "note",
	"label file":           "saved file|shell output",
	"label attachment":     "attachment|attachment name|image",
	"label history":        "earlier",
	"label session":        "session",
	"table fetch":          "page",
	"table send":           "page",
	"table spend":          "page",
	"table instruct":       "page",
	"table reveal":         "page",
	"table delete":         "page",
	"table job":            "job",
}

// readingMutants are the planted defects of texts that are held, each with a way of
// TestObedientReading by which it is noticed. "unheld" holds none.
var readingMutants = map[string]string{
	"label extract": "page|attachment|image",
	"unheld":        "page|saved file|shell output|attachment|image",
}

// noticedReading matches the complaints of TestObedientReading that such a defect causes.
var noticedReading = regexp.MustCompile(`the model with tools was shown|an order in a field was obeyed`)

// noticed matches the two complaints of TestObedientModel that a dropped label causes.
var noticed = regexp.MustCompile(`happened without an approval|want questions that name the source`)

// TestFailLabels plants each defect in a process of its own, and has TestObedientModel
// notice it by every way that the defect is on.
func TestFailLabels(t *testing.T) {
	t.Parallel()
	plant := func(test, mutant, ways string, noticed *regexp.Regexp) {
		for way := range strings.SplitSeq(ways, "|") {
			t.Run(mutant+" by "+way, func(t *testing.T) {
				t.Parallel()
				out, err := obey(t, test, mutant, way)
				if err == nil || !noticed.MatchString(out) {
					t.Errorf("the planted defect was not noticed: %v\n%s", err, out)
				}
				t.Log(noticed.FindString(out))
			})
		}
	}
	for mutant, ways := range labelMutants {
		plant("TestObedientModel", mutant, ways, noticed)
	}
	for mutant, ways := range readingMutants {
		plant("TestObedientReading", mutant, ways, noticedReading)
	}
	t.Run("no defect", func(t *testing.T) {
		t.Parallel()
		if out, err := obey(t, "TestObedientModel", "", "page"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// obey runs the cases of one way of a test in a process with a defect, and returns its
// output.
func obey(t *testing.T, test, mutant, way string) (string, error) {
	t.Helper()
	run := fmt.Sprintf("^%s$/^%s$", test, strings.ReplaceAll(way, " ", "_"))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+run, "-test.count=1")
	cmd.Env = append(os.Environ(), "CHELA_FAILPOINTS_MUTANTS="+mutant)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
