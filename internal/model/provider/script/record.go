package script

import (
	"encoding/json"
	"os"

	"chela"
)

// A RecordedRequest is one line of a scenario's record file.
type RecordedRequest struct {
	System   string           `json:"system"`
	Tools    []chela.ToolSpec `json:"tools"`
	Messages []chela.Message  `json:"messages"`
}

// record appends a request to the scenario's record file, if any.
func (p *Provider) record(req *chela.Request) error {
	if p.scenario.Record == "" {
		return nil
	}
	line, err := json.Marshal(RecordedRequest{System: req.System, Tools: req.Tools, Messages: req.Messages})
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := os.OpenFile(p.scenario.Record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
