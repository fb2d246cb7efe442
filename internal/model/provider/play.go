package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"chela"
)

// Kind is the kind of the provider that replays a recording.
const Kind = "replay"

// A Player replays a recording. It is safe for concurrent use.
type Player struct {
	dir       string
	scrub     *Scrubber
	exchanges []recordedExchange // in recorded order

	mu     sync.Mutex
	played map[string]int // guarded by mu; replays by request hash
}

// OpenRecording returns a player of the recording in a folder. It returns NotFound if
// there is none, and Invalid if a file cannot be read. The player needs no
// closing.
func OpenRecording(dir string, scrub *Scrubber) (*Player, error) {
	files, err := os.ReadDir(dir) // sorted
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unusableRecording(dir, err)
	}
	p := &Player{dir: dir, scrub: scrub, played: map[string]int{}}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue
		}
		x, err := p.read(f.Name())
		if err != nil {
			return nil, err
		}
		p.exchanges = append(p.exchanges, x)
	}
	if len(p.exchanges) == 0 {
		return nil, chela.E(chela.NotFound, "there is no recording in "+dir).WithHint("make one with CHELA_RECORD=" + dir)
	}
	return p, nil
}

// read reads one file.
func (p *Player) read(name string) (recordedExchange, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return recordedExchange{}, unusableRecording(p.dir, err)
	}
	var x recordedExchange
	err = json.Unmarshal(text, &x)
	if err == nil && (x.Finish == nil) == (x.Failure == nil) {
		err = errors.New("it has to have either a finish or a failure")
	}
	if err == nil {
		x, err = scrubbedValue(p.scrub, x)
	}
	if err != nil {
		return recordedExchange{}, chela.E(chela.Invalid, filepath.Join(p.dir, name)+" is not part of a recording").WithHint("remove it").Because(err)
	}
	x.name, x.hash = name, x.Request.hash()
	return x, nil
}

// Play returns a provider that answers for a model, provider/model, whichever
// model was recorded.
func (p *Player) Play(model string) chela.Provider { return playing{player: p, model: model} }

type playing struct {
	player *Player
	model  string
}

func (p playing) Stream(ctx context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		x, err := p.player.find(req)
		if err != nil {
			yield(chela.Chunk{}, err)
			return
		}
		for _, piece := range x.Pieces {
			if ctx.Err() != nil {
				yield(chela.Chunk{}, ctx.Err())
				return
			}
			if !yield(chela.Chunk(piece), nil) {
				return
			}
		}
		if x.Failure != nil {
			yield(chela.Chunk{}, x.Failure.err())
			return
		}
		yield(chela.Chunk{Finish: p.finish(x)}, nil)
	}
}

// finish returns the finish of an exchange, with the model that had answered.
func (p playing) finish(x recordedExchange) *chela.Finish {
	f := chela.Finish(*x.Finish)
	if f.Served = cmp.Or(f.Served, x.Model); f.Served == p.model {
		f.Served = ""
	}
	return &f
}

// find returns the exchange to replay for a request.
func (p *Player) find(req *chela.Request) (recordedExchange, error) {
	asked, err := recordedRequestOf(req, p.scrub)
	if err != nil {
		return recordedExchange{}, invalidRecording(err.Error())
	}
	hash := asked.hash()
	var same []recordedExchange
	for _, x := range p.exchanges {
		if x.hash == hash {
			same = append(same, x)
		}
	}
	if len(same) == 0 {
		near := p.nearest(asked)
		return recordedExchange{}, invalidRecording(fmt.Sprintf(
			"the request is not in the recording; %s is nearest, with another %s", near.name, difference(near.Request, asked)))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.played[hash]
	p.played[hash]++
	return same[min(n, len(same)-1)], nil
}

func invalidRecording(msg string) error {
	return &chela.ProviderError{Provider: Kind, Kind: chela.Invalid, Unpaid: true, Msg: msg}
}
