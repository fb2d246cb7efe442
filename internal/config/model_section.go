package config

import (
	"time"

	"chela"
	"chela/internal/config/field"
	"chela/internal/model/catalogue"
)

// maxPrice is the largest price of a million tokens.
const maxPrice = 100_000 * chela.USD

// ModelKeys are the keys of [models."PROVIDER/NAME"], which overrides the
// catalogue's entry of a model.
var ModelKeys = []field.Key[catalogue.Row]{
	field.Named("window", func(m *catalogue.Row) field.Field { return field.Number(&m.Window, 1000, 100_000_000) }),
	field.Named("max_output", func(m *catalogue.Row) field.Field { return field.Number(&m.MaxOutput, 1, 100_000_000) }),
	field.Named("input", func(m *catalogue.Row) field.Field { return field.Price(&m.Input, maxPrice) }),
	field.Named("output", func(m *catalogue.Row) field.Field { return field.Price(&m.Output, maxPrice) }),
	field.Named("cache_read", func(m *catalogue.Row) field.Field { return field.Price(&m.CacheRead, maxPrice) }),
	field.Named("cache_write", func(m *catalogue.Row) field.Field { return field.Price(&m.CacheWrite, maxPrice) }),
}

// UnknownModel holds the assumed properties of a model without a catalogue
// entry.
type UnknownModel struct {
	Window        int             // tokens of prompt and response
	MaxOutput     int             // tokens of a response
	Input, Output *chela.MicroUSD // for a million tokens; nil: the price is unknown
}

// NewUnknownModel returns the defaults.
func NewUnknownModel() UnknownModel {
	return UnknownModel{Window: catalogue.DefaultWindow, MaxOutput: catalogue.DefaultMaxOutput}
}

// UnknownModelKeys are the keys of [unknown_model].
var UnknownModelKeys = []field.Key[UnknownModel]{
	field.Named("window", func(u *UnknownModel) field.Field { return field.Number(&u.Window, 1000, 100_000_000) }),
	field.Named("max_output", func(u *UnknownModel) field.Field { return field.Number(&u.MaxOutput, 1, 100_000_000) }),
	field.Named("input", func(u *UnknownModel) field.Field { return field.Price(&u.Input, maxPrice) }),
	field.Named("output", func(u *UnknownModel) field.Field { return field.Price(&u.Output, maxPrice) }),
}

// Chain configures retries, cooldowns and caching between a turn and a
// provider.
type Chain struct {
	Attempts        int           // attempts of one request, with one key of one model
	FirstWait       time.Duration // backoff after the first attempt; it doubles from there on
	Cooldown        time.Duration // cooldown of a key or model whose failure named no time
	BreakerFailures int           // consecutive failures that open the circuit of a model
	BreakerOpen     time.Duration // cooldown of an open circuit
	Idle            time.Duration // without any bytes from a server; 0 means no timeout
	FirstByte       time.Duration // until the first byte of an answer while another model is ready; 0 means that of Idle
	Cache           time.Duration // lifetime of a cached response; 0 means no cache
}

// NewChain returns the defaults.
func NewChain() Chain {
	return Chain{Attempts: 3, FirstWait: time.Second, Cooldown: time.Minute, BreakerFailures: 5, BreakerOpen: 30 * time.Second, Idle: 5 * time.Minute, FirstByte: 45 * time.Second}
}

// ChainKeys are the keys of [chain].
var ChainKeys = []field.Key[Chain]{
	field.Named("attempts", func(c *Chain) field.Field { return field.Number(&c.Attempts, 1, 10) }),
	field.Named("first_wait", func(c *Chain) field.Field { return field.Span(&c.FirstWait, time.Millisecond, time.Minute) }),
	field.Named("cooldown", func(c *Chain) field.Field { return field.Span(&c.Cooldown, time.Second, 24*time.Hour) }),
	field.Named("breaker_failures", func(c *Chain) field.Field { return field.Number(&c.BreakerFailures, 1, 1000) }),
	field.Named("breaker_open", func(c *Chain) field.Field { return field.Span(&c.BreakerOpen, time.Second, 24*time.Hour) }),
	field.Named("idle", func(c *Chain) field.Field { return field.Span(&c.Idle, 0, 24*time.Hour) }),
	field.Named("first_byte", func(c *Chain) field.Field { return field.Span(&c.FirstByte, 0, time.Hour) }),
	field.Named("cache", func(c *Chain) field.Field { return field.Span(&c.Cache, 0, 24*time.Hour) }),
}

// Routing enables the cheap model for simple messages.
type Routing struct{ Smart bool }

// RoutingKeys are the keys of [routing].
var RoutingKeys = []field.Key[Routing]{
	field.Named("smart", func(r *Routing) field.Field { return field.Switch(&r.Smart) }),
}

// Compaction configures when and how far a prompt is compacted, in tokens.
type Compaction struct {
	ReserveTokens    int // reserved for the response
	ReserveFloor     int // minimum reserved, whatever ReserveTokens says
	KeepRecentTokens int // of a conversation, kept by a compaction
	MemoryFlush      bool
	SoftThreshold    int // how far below the first threshold the memory flush is requested
}

// NewCompaction returns the defaults.
func NewCompaction() Compaction {
	return Compaction{
		ReserveTokens: 16_384, ReserveFloor: 20_000, KeepRecentTokens: 20_000, MemoryFlush: true, SoftThreshold: 4_000,
	}
}

// CompactionKeys are the keys of [compaction].
var CompactionKeys = []field.Key[Compaction]{
	field.Named("reserve_tokens", func(c *Compaction) field.Field { return field.Number(&c.ReserveTokens, 0, 10_000_000) }),
	field.Named("reserve_floor", func(c *Compaction) field.Field { return field.Number(&c.ReserveFloor, 0, 10_000_000) }),
	field.Named("keep_recent_tokens", func(c *Compaction) field.Field {
		return field.Number(&c.KeepRecentTokens, 0, 10_000_000)
	}),
	field.Named("memory_flush", func(c *Compaction) field.Field { return field.Switch(&c.MemoryFlush) }),
	field.Named("soft_threshold", func(c *Compaction) field.Field { return field.Number(&c.SoftThreshold, 0, 10_000_000) }),
}
