package chela_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"chela"
)

func ExampleParseSessionKey() {
	k, err := chela.ParseSessionKey("agent:main:slack:channel:C1:thread:1700.5")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.Kind, k.Channel, k.ID, k.Thread)
	// Output:
	// channel slack C1 1700.5
}

func ExampleTurnState_CanMove() {
	fmt.Println(chela.TurnProcessing.CanMove(chela.TurnAwaiting))
	fmt.Println(chela.TurnCompleted.CanMove(chela.TurnProcessing))
	// Output:
	// true
	// false
}

func ExampleMessageOf() {
	cause := errors.New("write /home/a/.chela/chela.db: no space left on device")
	err := fmt.Errorf("append entry: %w",
		chela.E(chela.Exhausted, "the disk is full").WithHint("free some space").Because(cause))
	fmt.Println("log:   ", err)
	fmt.Println("people:", chela.MessageOf(err))
	// Output:
	// log:    append entry: the disk is full: write /home/a/.chela/chela.db: no space left on device
	// people: the disk is full; free some space
}

// shouter is a provider that answers in capitals.
type shouter struct{}

// Stream yields the newest message word by word.
func (shouter) Stream(_ context.Context, req *chela.Request) iter.Seq2[chela.Chunk, error] {
	return func(yield func(chela.Chunk, error) bool) {
		text := strings.ToUpper(req.Messages[len(req.Messages)-1].Text)
		for word := range strings.SplitAfterSeq(text, " ") {
			if !yield(chela.Chunk{Text: word}, nil) {
				return
			}
		}
		yield(chela.Chunk{Finish: &chela.Finish{Text: text, Stop: chela.StopEnd}}, nil)
	}
}

func ExampleProvider() {
	var p chela.Provider = shouter{}
	req := &chela.Request{Messages: []chela.Message{{Role: chela.RoleUser, Text: "hold on"}}}
	for chunk, err := range p.Stream(context.Background(), req) {
		switch {
		case err != nil:
			fmt.Println("error:", err)
		case chunk.Finish != nil:
			fmt.Println("stopped:", chunk.Finish.Stop)
		default:
			fmt.Printf("%q\n", chunk.Text)
		}
	}
	// Output:
	// "HOLD "
	// "ON"
	// stopped: end
}

func ExampleTool() {
	flip := chela.Tool{
		Name:        "flip",
		Description: "Flips text.",
		Input:       json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		Run: func(_ context.Context, call chela.ToolCall) (chela.ToolResult, error) {
			var in struct{ Text string }
			if err := json.Unmarshal(call.Args, &in); err != nil {
				return chela.ToolResult{Failed: true, Text: "text is missing"}, nil
			}
			runes := []rune(in.Text)
			for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
				runes[i], runes[j] = runes[j], runes[i]
			}
			return chela.ToolResult{Text: string(runes)}, nil
		},
	}
	result, err := flip.Run(context.Background(), chela.ToolCall{Args: json.RawMessage(`{"text":"claw"}`)})
	fmt.Println(result.Text, err)
	// Output: walc <nil>
}
