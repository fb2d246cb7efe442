// Package leak finds credentials in text and redacts them.
//
// A [Scanner] knows two sorts of secrets: the published formats of keys and
// tokens (rules.jsonl, with the rules of this package in own.jsonl), and exact
// values, such as those of the vault, in all encodings in which they usually
// travel. It has three stages, so that clean text costs one table look-up for
// each byte:
//
//	text ─▶ automaton ─▶ candidates ─▶ expression, entropy, allowlist ─▶ findings
//	        (all keywords and           (on a window around the
//	        beginnings of values)       keyword only)
//
// Expressions are compiled on first use. Windows of one rule that overlap are
// merged, so that the time is linear in the length of the text.
//
// A [Stream] redacts text that arrives in pieces. It holds back the part at the
// end that a secret may still extend over, and no more: its output is that of
// [Scanner.Redact] for the whole text.
package leak
