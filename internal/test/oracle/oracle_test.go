package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	right = []byte(strings.Repeat("right", 10_000))
	wrong = []byte(strings.Repeat("wrong", 10_000))
	half  = right[:len(right)/2]
)

// good is a story without fault: the server gives a digest, and the file has it.
func good() Story {
	return Story{
		Contents: map[string][]byte{"0": right, "1": wrong}, HTTPS: map[string]bool{"a": true},
		Commands: []Command{{
			Do: "get", Asked: "a", Rank: HTTPS, Digest: SHA256(right), After: Files{Final: right},
			Places: map[string]Place{
				"a": {Content: "0", Digest: SHA256(right), Well: true, Ranges: true, Steady: true},
				"m": {Content: "1", Ranges: true},
			},
			Answers: []Answer{{
				Party: "a", Method: "GET", Status: 200, Digest: SHA256(right), Content: "0", Sent: int64(len(right)),
			}},
		}},
	}
}

// second adds a command that begins with what the first has left.
func (s *Story) second(change func(c *Command)) {
	c := good().Commands[0]
	c.Before = s.Commands[0].After
	change(&c)
	s.Commands = append(s.Commands, c)
}

// interrupted ends the first command half way.
func (s *Story) interrupted() {
	c := &s.Commands[0]
	c.Code, c.Rank, c.Cut, c.After = 130, None, "interrupt", Files{Part: half, Journal: true}
}

// TestJudge: each property finds what contradicts it, and nothing else.
func TestJudge(t *testing.T) {
	for want, change := range map[string]func(s *Story, c *Command){
		"":                             func(*Story, *Command) {},
		"P1 the bytes do not":          func(s *Story, c *Command) { c.After.Final = wrong },
		"P1 the bytes are not what":    func(s *Story, c *Command) { c.User = SHA256(wrong) },
		"P1 the digest is that of a s": func(s *Story, c *Command) { c.Answers[0].Party = "m" },
		"P1 no authority has stated":   func(s *Story, c *Command) { c.Answers, c.Rank, c.Require = nil, None, "digest" },
		"P1 the bytes contradict": func(s *Story, c *Command) {
			c.Rank, c.Digest, c.After.Final = None, "", wrong
		},
		"P1 the bytes contradict what": func(s *Story, c *Command) {
			c.Answers[0].Digest, c.Lookup, c.Rank = "", true, None
			c.Lookups = []Answer{{Party: "a", File: "sums", Status: 200, Digest: SHA256(wrong)}}
		},
		"P1 the digest is that of a stranger": func(s *Story, c *Command) { // a mirror's list proves nothing
			c.Answers[0].Digest, c.Lookup = "", true
			c.Lookups = []Answer{{Party: "a", File: "sums", Status: 302, To: "m"},
				{Party: "m", File: "sums", Status: 200, Digest: SHA256(right)}}
		},
		"P8 an error of": func(s *Story, c *Command) { c.Code, c.Places, c.After = 1, nil, Files{} },
		"P1 less proof": func(s *Story, c *Command) {
			s.second(func(c *Command) { c.Before, c.Answers, c.Rank, c.Damage = Files{}, nil, None, "remove" })
		},
		"P2 the bytes are of no": func(s *Story, c *Command) {
			c.Answers, c.Rank, c.After.Final = nil, None, append(half[:len(half):len(half)], wrong...)
		},
		"P3 the file changed": func(s *Story, c *Command) { c.Code, c.Before.Final, c.Places = 4, wrong, nil },
		"P3 a file was replaced": func(s *Story, c *Command) {
			c.Before.Final = wrong
		},
		"P4 work was thrown away": func(s *Story, c *Command) {
			s.interrupted()
			s.second(func(c *Command) { c.Code, c.Rank, c.After, c.Cut = 130, None, Files{}, "interrupt" })
		},
		"P4 work was done again": func(s *Story, c *Command) {
			s.interrupted()
			s.second(func(*Command) {})
		},
		"P5 a good place":   func(s *Story, c *Command) { c.Code, c.Rank, c.After = 11, None, Files{} },
		"P6 endless":        func(s *Story, c *Command) { c.Stopped = "endless requests" },
		"P7 another server": func(s *Story, c *Command) { c.Answers = append(c.Answers, Answer{Party: "m", Secret: true}) },
		"P7 a redirect from": func(s *Story, c *Command) {
			c.Rank, c.Digest = None, ""
			c.Answers = []Answer{{Party: "a", Status: 302, To: "t"}, {Party: "t", Status: 200, Content: "0"}}
		},
		"P7 a file of":       func(s *Story, c *Command) { c.After.Strange = []string{"x"} },
		"P8 bytes are said":  func(s *Story, c *Command) { c.Kept = 5 },
		"P8 code 0 and no":   func(s *Story, c *Command) { c.After, c.Rank = Files{}, None },
		"P6 the same questi": func(s *Story, c *Command) { c.Answers = append(c.Answers, make([]Answer, burst+1)...) },
	} {
		s := good()
		change(&s, &s.Commands[0])
		var got []string
		for _, v := range Judge(s) {
			got = append(got, fmt.Sprintf("P%d %s", v.P, v.What))
		}
		all := strings.Join(got, "; ")
		if want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("want %q: %q", want, all)
		}
	}
}

// TestRefuted: a digest of the user that did not hold ties nothing in the next command, and a tag does.
func TestRefuted(t *testing.T) {
	for tag, want := range map[string]int{"": 0, `"1"`: 1} {
		s := good()
		s.interrupted()
		c := &s.Commands[0]
		s.Contents["half"], c.User = half, SHA256(right)
		c.Answers = []Answer{{Party: "a", Method: "GET", Status: 200, Tag: tag, Content: "0", Sent: int64(len(half))}}
		c.Places = map[string]Place{"a": {Content: "0", Ranges: true, Steady: true}}
		s.second(func(c *Command) {
			c.Places, c.Rank, c.Digest = s.Commands[0].Places, None, ""
			c.Answers = []Answer{{Party: "a", Method: "GET", Status: 200, Tag: `"1"`, Content: "0", Sent: int64(len(right))}}
		})
		if got := Judge(s); len(got) != want {
			t.Errorf("tag %q: %v", tag, got)
		}
	}
}

// TestFalseTag: a server may give two contents one strong tag, and what is refused between them changes nothing.
func TestFalseTag(t *testing.T) {
	mixed := append(half[:len(half):len(half)], wrong[len(half):]...)
	at := int64(len(half))
	first := Answer{Party: "a", Method: "GET", Status: 200, Tag: `"1"`, Content: "0", Sent: at}
	rest := Answer{Party: "m", Method: "GET", Status: 206, Tag: `"1"`, Content: "1", From: at, Sent: at}
	untied := rest
	untied.Party, untied.Tag = "n", ""
	for name, tt := range map[string]struct {
		answers []Answer
		want    int
	}{
		"one tag": {[]Answer{first, rest}, 0}, "one is refused": {[]Answer{first, untied, rest}, 0},
		"no tag": {[]Answer{first, untied}, 1},
	} {
		s := good()
		c := &s.Commands[0]
		c.Rank, c.Digest, c.After.Final, c.Answers = None, "", mixed, tt.answers
		if got := Judge(s); len(got) != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAuthority: a server that is reached by a redirect without a digest speaks for the asked one, and no other does.
func TestAuthority(t *testing.T) {
	for digest, want := range map[string]int{"": 0, SHA256(wrong): 1} {
		s := good()
		c := &s.Commands[0]
		c.Rank, c.Answers[0].Party, c.Took = HTTP, "t", time.Second
		s.HTTPS = map[string]bool{} // what leads from https to http is not followed
		c.Answers = append([]Answer{{Party: "a", Status: 302, To: "t", Digest: digest}}, c.Answers...)
		if got := Judge(s); len(got) != want {
			t.Errorf("digest %.4q: %v", digest, got)
		}
	}
}

// TestAnotherTag: a server that gives another strong tag and no digest has another version than the one in the journal,
// also if it is the same content. The same tag, or none, withdraws nothing.
func TestAnotherTag(t *testing.T) {
	for tag, want := range map[string]bool{`"2"`: false, `"1"`: true, "": true} {
		s := good()
		s.interrupted()
		c := &s.Commands[0]
		c.Answers[0].Tag, c.Answers[0].Digest = `"1"`, SHA256(wrong)
		s.second(func(c *Command) {
			c.Rank, c.Digest, c.Answers[0].Digest, c.Answers[0].Tag = None, "", "", tag
		})
		got := Judge(s)
		if found := slices.ContainsFunc(got, func(v Violation) bool { return v.P == 1 }); found != want {
			t.Errorf("tag %q: %v", tag, got)
		}
	}
}

// TestMirrorLeads: a server that was reached by a redirect of the asked one does not speak for it where a mirror leads
// there, also one that leads there for the asked server, too.
func TestMirrorLeads(t *testing.T) {
	for led, want := range map[bool]int{true: 1, false: 0} {
		s := good()
		c := &s.Commands[0]
		c.Rank, c.Digest, c.Took = None, "", time.Second
		to, through, there := Answer{Party: "a", Status: 302, To: "m"}, Answer{Party: "m", Status: 302, To: "n"}, c.Answers[0]
		there.Party, there.Digest = "n", ""
		again := there
		again.Digest = SHA256(wrong)
		s.HTTPS["m"], s.HTTPS["n"] = true, true
		if c.Answers = []Answer{to, through, there, through, again}; led {
			c.Answers = []Answer{to, through, there, to, through, again}
		}
		if got := Judge(s); len(got) != want {
			t.Errorf("led by the asked server %t: %v", led, got)
		}
	}
}

// TestResumed: "parts resume" repeats what the download required and the digest of its list, and need not succeed
// against them.
func TestResumed(t *testing.T) {
	list := Answer{Kind: List, Party: "a", Status: 200, Digest: SHA256(wrong)}
	for name, change := range map[string]func(c *Command){
		"":                     func(*Command) {},
		"a signature required": func(c *Command) { c.Require = "signature" },
		"another digest":       func(c *Command) { c.List, c.Answers = "a", append(c.Answers, list) },
	} {
		s := good()
		s.interrupted()
		change(&s.Commands[0])
		s.second(func(c *Command) {
			c.Do, c.Code, c.Rank, c.Digest, c.After, c.Answers = "resume", 11, None, "", c.Before, nil
		})
		if got := Judge(s); (len(got) == 0) != (name != "") {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestDowngrade_Rule26: a redirect from https to http needs a digest by https, also behind one from http to https.
func TestDowngrade_Rule26(t *testing.T) {
	for digest, want := range map[string]int{"": 1, SHA256(right): 0} {
		s := good()
		s.HTTPS = map[string]bool{"t": true}
		c := &s.Commands[0]
		c.Rank, c.Took = HTTP, time.Second
		if c.Answers[0].Party, c.Answers[0].Digest = "n", ""; digest == "" {
			c.Rank, c.Digest = None, ""
		}
		way := []Answer{{Party: "a", Status: 302, To: "t"}, {Party: "t", Status: 302, To: "n", Digest: digest}}
		c.Answers = append(way, c.Answers...)
		if got := Judge(s); len(got) != want {
			t.Errorf("digest %.4q: %v", digest, got)
		}
	}
}

// TestWhole: parts of several servers are a version if an authority's digest is theirs as a whole.
func TestWhole(t *testing.T) {
	for digest, want := range map[string]int{"": 1, SHA256(right): 0} {
		s := good()
		s.Contents = map[string][]byte{"0": half, "1": wrong}
		c := &s.Commands[0]
		if c.Answers[0].Digest = digest; digest == "" {
			c.Rank, c.Digest = None, ""
		}
		if got := Judge(s); len(got) != want {
			t.Errorf("digest %.4q: %v", digest, got)
		}
	}
}

// TestSignedBefore: a file that the user's key has signed is proven by the user later, when -N keeps it.
func TestSignedBefore(t *testing.T) {
	for signed, want := range map[string]int{SHA256(right): 0, SHA256(wrong): 2} {
		s := good()
		s.Signed = map[string]bool{signed: true}
		c := &s.Commands[0]
		c.Newer, c.Key, c.Rank, c.Digest, c.Answers[0].Digest = true, true, Signed, "", ""
		s.second(func(c *Command) {
			c.Newer, c.Unchanged, c.Rank, c.Answers = true, true, User, nil
		})
		if got := Judge(s); len(got) != want {
			t.Errorf("signed %.4q: %v", signed, got)
		}
	}
}

// TestTurn: a watch does not replace what it has proven by what nothing proves. What -N has proven it does not know.
func TestTurn(t *testing.T) {
	for before, want := range map[bool]int{true: 1, false: 0} {
		s := good()
		s.Contents["0"], s.Contents["1"] = wrong, right
		first := &s.Commands[0]
		first.Newer, first.Turn, first.Answers[0].Digest = true, before, ""
		first.User = SHA256(right) // and not the next time
		first.Rank, first.Digest = User, first.User
		s.second(func(c *Command) {
			c.Newer, c.Turn, c.After.Final, c.Rank, c.Digest = true, true, wrong, None, ""
			c.Answers[0].Digest = ""
		})
		if got := Judge(s); len(got) != want {
			t.Errorf("by a watch %t: %v", before, got)
		}
	}
}

// TestTiedLate_RuleS18: bytes are fetched again if nothing tied an answer to them before HEAD was asked.
func TestTiedLate_RuleS18(t *testing.T) {
	whole := good().Commands[0].Answers[0]
	whole.Digest = ""
	refused, head := whole, whole
	refused.Sent, head.Sent = 0, 0
	head.Method, head.Digest = "HEAD", SHA256(right)
	for _, tt := range []struct {
		answers []Answer
		want    int
	}{{[]Answer{refused, head, whole}, 0}, {[]Answer{head, whole}, 1}} {
		s := good()
		s.interrupted()
		first := &s.Commands[0]
		first.Digest, first.Answers[0].Digest, first.Answers[0].Tag = "", "", `"1"`
		s.second(func(c *Command) { c.Answers = tt.answers })
		if got := Judge(s); len(got) != tt.want {
			t.Errorf("%d answers: %v", len(tt.answers), got)
		}
	}
}

// TestFolderWithoutLists: a list that a later index of the folder does not name is there no more.
func TestFolderWithoutLists(t *testing.T) {
	for lists, want := range map[string]int{"other,sums": 1, "other": 0, "": 0} {
		s := good()
		c := &s.Commands[0]
		c.Answers[0].Digest, c.Lookup, c.Rank, c.Digest = "", true, None, ""
		c.Lookups = []Answer{{Party: "a", File: "sums", Status: 200, Digest: SHA256(wrong), At: 1},
			{Party: "a", File: "/", Status: 200, Lists: lists, At: 2}}
		if got := Judge(s); len(got) != want {
			t.Errorf("lists in the index %q: %v", lists, got)
		}
	}
}

// TestContradictsItself: a server that stated two digests at once has taken back what it said before.
func TestContradictsItself(t *testing.T) {
	for _, answers := range []int{0, 1} {
		s := good()
		s.interrupted()
		s.Commands[0].After.Part = right
		s.second(func(c *Command) {
			again, other := c.Answers[0], c.Answers[0]
			again.Method, again.Sent, other.Sent, other.Digest = "HEAD", 0, 0, SHA256(wrong)
			c.Code, c.Rank, c.After, c.Answers = 7, None, c.Before, []Answer{again, other}
		})
		s.second(func(c *Command) {
			c.Answers[0].Sent = 0
			c.Answers = c.Answers[:answers]
		})
		if got := Judge(s); len(got) != 1-answers {
			t.Errorf("%d answers: %v", answers, got)
		}
	}
}
