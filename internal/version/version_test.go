package version

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"braid/verify"
)

// Every pair of views is compared: without, with a weak (which counts as none) or with a strong tag, the same or
// another one; dates; sizes; digests; one host, another one, or one that shares tags. The decisions are listed from the
// strongest mark to the weakest.
func TestCompare_Rule30_Rule34_Rule35_C5_C8_S9_S18(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dates := map[string][2]time.Time{"no dates": {}, "one date": {day, {}}, "same date": {day, day},
		"other date": {day, day.Add(time.Hour)}}
	tags := map[string][2]string{"no tags": {}, "one tag": {`"a"`, ""}, "same tag": {`"a"`, `"a"`}, "other tag": {`"a"`, `"b"`}}
	sizes := map[string][2]int64{"no sizes": {-1, -1}, "one size": {7, -1}, "same size": {7, 7}, "other size": {7, 8}}
	digests := map[string][2][]verify.Claim{
		"no digests": {}, "one digest": {claims(t, verify.SHA256, 1), nil},
		"same digest":       {claims(t, verify.SHA256, 1), claims(t, verify.SHA256, 1)},
		"other digest":      {claims(t, verify.SHA256, 1), claims(t, verify.SHA256, 2)},
		"other algorithm":   {claims(t, verify.SHA256, 1), claims(t, verify.SHA512, 2)},
		"same weak digest":  {claims(t, verify.SHA1, 1), claims(t, verify.SHA1, 1)},
		"other weak digest": {claims(t, verify.SHA1, 1), claims(t, verify.SHA1, 2)},
	}
	hosts := map[string]View{"same host": {Host: "a:1"}, "other host": {Host: "b:1"}, "sharing host": {Host: "b:1", Shares: true}}
	seen := map[Verdict]int{}
	for d, digest := range digests {
		for s, size := range sizes {
			for g, tag := range tags {
				for w, date := range dates {
					for h, host := range hosts {
						known := View{Size: size[0], Digests: digest[0], ETag: tag[0], Modified: date[0], Host: "a:1"}
						answer := View{Size: size[1], Digests: digest[1], ETag: tag[1], Modified: date[1],
							Host: host.Host, Shares: host.Shares}
						got := Compare(known, answer)
						name := fmt.Sprintf("%s, %s, %s, %s, %s", d, s, g, w, h)
						if want := expected(name); got.Judgment != want.Judgment || got.By != want.By {
							t.Fatalf("%s: %v by %v (%v), want %v by %v", name, got.Judgment, got.By, got.Why,
								want.Judgment, want.By)
						}
						if (got.Why == nil) != (got.Judgment == Same) {
							t.Errorf("%s: %v because %v", name, got.Judgment, got.Why)
						}
						seen[Verdict{Judgment: got.Judgment, By: got.By}]++
						if known.Shares = answer.Shares; Compare(answer, known).Judgment != got.Judgment {
							t.Errorf("%s: the other way round it is %v", name, Compare(answer, known))
						}
					}
				}
			}
		}
	}
	if len(seen) != 7 { // same by two marks, other by four, unproven
		t.Errorf("verdicts: %v", seen)
	}
}

// expected looks a name up in the table of words: the first row whose words are all in the name decides.
func expected(name string) Verdict {
	for _, row := range []struct {
		words string
		want  Verdict
	}{
		{"other digest", Verdict{Judgment: Other, By: ByDigest}},
		{"other weak digest", Verdict{Judgment: Other, By: ByDigest}},
		{"other size", Verdict{Judgment: Other, By: BySize}},
		{"same digest", Verdict{Judgment: Same, By: ByDigest}},
		{"other algorithm", Verdict{}},
		{"other host", Verdict{}},
		{"other tag", Verdict{Judgment: Other, By: ByETag}},
		{"other date", Verdict{Judgment: Other, By: ByDate}},
		{"same tag", Verdict{Judgment: Same, By: ByETag}},
	} {
		has := func(words string) bool { return strings.Contains(", "+name+",", ", "+words+",") }
		if row.words == "same tag" && has("sharing host") && !has("same size") && !has("one digest") {
			return Verdict{}
		}
		if has(row.words) {
			return row.want
		}
	}
	return Verdict{}
}

func claims(t *testing.T, a verify.Algorithm, fill byte) []verify.Claim {
	t.Helper()
	raw := make([]byte, a.Size())
	raw[0] = fill
	d, err := verify.NewDigest(a, raw)
	if err != nil {
		t.Fatal(err)
	}
	return []verify.Claim{{Digest: d, Channel: verify.HTTPS}}
}
