package download

import (
	"testing"
	"time"

	"braid/download/state"
	"braid/internal/partfile"
	"braid/internal/test/prooftest"
	"braid/source"
	"braid/verify"
)

// Proves rule 54: which versions of a server are older than the recorded one, or the same, for a file and for its part.
func TestRecordedRelation_Rule54(t *testing.T) {
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	here := &state.Version{ETag: `"1"`, LastModified: day, Host: "a:80", Size: 9}
	answer := source.Answer{ETag: `"2"`, LastModified: day.Add(time.Hour), Host: "a:80", Size: 9}
	earlier := answer
	earlier.LastModified = day.Add(-time.Hour)
	mirror := inquiry{resolution: resolution{answers: 2, mirror: 1, spoken: spokeNow}, answer: earlier}
	for name, tt := range map[string]struct {
		of   recorded
		x    inquiry
		want relation
	}{
		"nothing is recorded":        {recorded{}, inquiry{answer: earlier}, unknown},
		"the same tag":               {recorded{here: here}, inquiry{answer: source.Answer{ETag: `W/"1"`, Host: "a:80"}}, same},
		"the same tag elsewhere":     {recorded{here: here}, inquiry{answer: source.Answer{ETag: `"1"`, Host: "b:80"}}, unknown},
		"a later date":               {recorded{here: here}, inquiry{answer: answer}, unknown},
		"an earlier date":            {recorded{here: here}, inquiry{answer: earlier}, older},
		"earlier than another URL's": {recorded{before: here}, inquiry{answer: earlier}, older},
		"a mirror for a digest":      {recorded{here: here}, mirror, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.of.relation(tt.x); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
			prior := partfile.Identity{ETag: tt.x.answer.ETag, Date: tt.x.answer.LastModified, Host: tt.x.answer.Host, Size: 9}
			r := &Request{IfExists: IfExists{IfNewer: true}}
			if got := tt.of.outdated(r, prior); got != tt.of.older(tt.x.answer) {
				t.Errorf("a part of that version is outdated: %v", got)
			}
			if r.IfExists.AllowOlder = true; tt.of.outdated(r, prior) {
				t.Error("a part of an older version is outdated, although that is allowed")
			}
		})
	}
}

// The first request has a condition only if the recorded proof suffices for what is demanded now.
func TestRecordedCondition(t *testing.T) {
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	digest := claimed(t, verify.SHA256, verify.HTTPS, 1)
	plain := &state.Version{ETag: `"1"`, LastModified: day}
	proven := &state.Version{ETag: `"1"`, Digest: digest.Digest, Over: verify.HTTPS}
	unproven := &state.Version{ETag: `"1"`, Digest: digest.Digest}
	for name, tt := range map[string]struct {
		here *state.Version
		r    Request
		want condition
	}{
		"nothing is recorded": {nil, Request{}, condition{}},
		"the caller knows it": {nil, Request{IfExists: IfExists{Known: plain}}, condition{`"1"`, day}},
		"it is recorded":      {plain, Request{}, condition{`"1"`, day}},
		"a date alone": {
			&state.Version{LastModified: day}, Request{IfExists: IfExists{AllowOlder: true}}, condition{},
		},
		"proof is demanded":       {unproven, Request{Trust: Trust{Require: RequireDigest}}, condition{}},
		"and was had":             {proven, Request{Trust: Trust{Require: RequireDigest}}, condition{etag: `"1"`}},
		"the user gives a digest": {proven, Request{Trust: Trust{Claims: []verify.Claim{digest}}}, condition{}},
	} {
		if got := (&recorded{here: tt.here}).condition(&tt.r); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// Proves rules 54 and 64: a file is not replaced by one with less proof, unless that is allowed.
func TestRecordedStepsDown_Rule54_Rule64(t *testing.T) {
	proof, none := prooftest.Of(t, verify.SHA256), prooftest.Of(t)
	version := func(over verify.Channel) *state.Version {
		return &state.Version{Digest: claimed(t, verify.SHA256, over, 1).Digest, Over: over}
	}
	same := version(verify.User)
	same.Digest = proof.Digests()[0]
	for name, tt := range map[string]struct {
		of    recorded
		proof verify.Proof
		want  bool
	}{
		"as much":                {recorded{here: version(verify.HTTPS), replaces: true}, proof, false},
		"less":                   {recorded{here: version(verify.User), replaces: true}, proof, true},
		"none":                   {recorded{here: version(verify.HTTP), replaces: true}, none, true},
		"less than another URL":  {recorded{before: version(verify.Signed), replaces: true}, proof, true},
		"the same file":          {recorded{here: same, replaces: true}, proof, false},
		"nothing is replaced":    {recorded{here: version(verify.User)}, proof, false},
		"nothing proved the old": {recorded{here: version(0), replaces: true}, none, false},
	} {
		if got := tt.of.stepsDown(&Request{}, tt.proof); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if tt.of.stepsDown(&Request{Trust: Trust{LessProof: true}}, tt.proof) {
			t.Errorf("%s: refused, although less proof is allowed", name)
		}
	}
}
