package feedtext

// A guess finds the charset of a text by its lines: the first of some candidates that the fewest lines speak against. One
// broken line, cut in the middle of a character, is no reason to read a thousand others as something else.
type guess struct {
	candidates []*Charset
	misfits    []int
	scratch    []byte
	// strange: the text declares an unknown charset.
	strange bool
}

// newGuess returns a guess about a text that declares a charset by that label, or nothing if the label is empty. What is declared
// comes first, then UTF-8, EUC-JP and CP932; but EUC-JP, which feeds need not declare, is the first if nothing is.
func newGuess(declared string) *guess {
	g := &guess{candidates: []*Charset{UTF8, EUCJP, CP932}}
	if declared == "" {
		g.candidates = []*Charset{EUCJP, UTF8, CP932}
	} else if c, ok := LookupCharset(declared); !ok {
		g.strange = true
	} else if c != UnknownCharset {
		g.candidates = append([]*Charset{c}, g.candidates...)
	}
	g.misfits = make([]int, len(g.candidates))
	return g
}

// First returns the candidate that is taken if nothing speaks against it.
func (g *guess) first() *Charset { return g.candidates[0] }

// stateful reports whether lines of ASCII can be something else in the first candidate.
func (g *guess) stateful() bool { return g.first() == ISO2022JP }

// Observe takes a line into account.
func (g *guess) observe(line []byte) {
	if IsASCII(line) && !g.stateful() {
		return
	}
	for i, c := range g.candidates {
		var ok bool
		if ok, g.scratch = c.fits(line, g.scratch); !ok {
			g.misfits[i]++
		}
	}
}

// Charset returns what fits best so far.
func (g *guess) charset() *Charset {
	best := 0
	for i, n := range g.misfits {
		if n < g.misfits[best] {
			best = i
		}
	}
	if g.strange && g.misfits[best] > 0 {
		return UnknownCharset
	}
	return g.candidates[best]
}
