package feed

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzDecide checks what holds for all reports: none triggers twice, a report that must not be believed triggers
// nothing, and each baseline comes from one record.
func FuzzDecide(f *testing.F) {
	f.Add([]byte("\x01\x80\x85\x05\x00\x02\x81\x84\x05\x01\x03"), true)
	f.Fuzz(func(t *testing.T, b []byte, haveCopy bool) {
		s := State{HaveCopy: haveCopy}
		for len(b) >= 10 {
			reports := []Record{}
			for range 1 + int(b[0]%2) {
				if len(b) < 5 {
					break
				}
				reports = append(reports, invented(b[:5]))
				b = b[5:]
			}
			s = checkDecision(t, s, reports)
		}
	})
}

// invented returns a record with values from five bytes and times around noon.
func invented(b []byte) Record {
	at := func(x byte) Time {
		if x == 0 {
			return 0
		}
		return noon + (Time(x)-128)*600
	}
	r := Record{
		Format: FormatID(b[0] / 2 % 4), Failed: b[0] > 250, LastModified: at(b[1]), Detected: at(b[2]),
		Size: int64(b[3] % 4), Virtual: []string{"", "urn:a", "urn:b"}[b[4]%3],
	}
	if b[4]&8 != 0 {
		r.MD5 = strings.Repeat(string('0'+b[4]>>6), 32)
	}
	if b[4]&16 != 0 {
		r.Expires = at(b[3])
	}
	return r
}

func checkDecision(t *testing.T, s State, reports []Record) State {
	v := Decide(s, reports, noon)
	if v.Words == "" || (v.Action != None) != (v.Chosen >= 0 &&
		slices.Contains([]Reason{FirstSight, Modified, MD5Changed, SizeChanged, WentBackwards}, v.Reason)) {
		t.Fatalf("%+v", v)
	}
	if v.Action != None {
		r := reports[v.Chosen]
		if r.Failed || r.LastModified > noon+Skew || r.Detected > noon+Skew || r.Expires != 0 && r.Expires < noon {
			t.Fatalf("%v for %+v", v.Action, r)
		}
	}
	for _, b := range v.Next.Baselines {
		said := slices.ContainsFunc(reports, func(r Record) bool { return baselineOf(&r, noon) == b })
		if !said && !slices.Contains(s.Baselines, b) {
			t.Fatalf("nobody said %+v", b)
		}
	}
	next := v.Next
	next.HaveCopy = next.HaveCopy || v.Action == Download
	again := Decide(next, reports, noon)
	if again.Action != None || !reflect.DeepEqual(again.Next, Decide(again.Next, reports, noon).Next) {
		t.Fatalf("again: %+v after %+v", again, v)
	}
	return next
}
