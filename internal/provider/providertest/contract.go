package providertest

import "slices"

// contract returns every clause. Answers are fixed when the clause is made;
// what must hold is in the function beside it.
func contract() []clause {
	return slices.Concat(answers(), calls(), transcripts(), refusals(), broken(), stops())
}

// Texts that have gone wrong somewhere: joined emoji, right to left, combining
// marks, a byte order mark, line separators that are not newlines, NUL, and
// what SSE and JSON give a meaning.
const odd = "👩‍👩‍👧‍👦 שלום \u202eabc\u202c e\u0301 \ufeff\u2028\u2029 \x00 \r\n\r\n data: [DONE]\n\nevent: error\n\n{\"a\":\"\\ud83d\"} 𝄞 end"
