package download

import (
	"testing"

	"braid/byterange"
	"braid/internal/recheck"
)

// Samples are ranges of the existing bytes only: both ends, those of each range, and no gap is longer than a
// sixteenth.
func TestSamplesOf_Rule15(t *testing.T) {
	const mib = 1 << 20
	for _, have := range []byterange.Set{
		byterange.NewSet(byterange.Range{End: 100}), byterange.NewSet(byterange.Range{End: 64 * mib}),
		byterange.NewSet(byterange.Range{Start: 5, End: 6}),
		byterange.NewSet(byterange.Range{Start: 10 * mib, End: 12 * mib}, byterange.Range{Start: 20 * mib,
			End: 21 * mib}, byterange.Range{Start: 40 * mib, End: 90 * mib}),
	} {
		for _, size := range []int64{fewSamples, manySamples} {
			var compared byterange.Set
			for _, r := range samplesOf(have, size) {
				if r.Empty() || r.Len() > size || !have.Contains(r) {
					t.Errorf("%v: a sample of %v", have, r)
				}
				compared.Add(r)
			}
			for r := range have.All() {
				if !compared.Contains(byterange.Range{Start: r.Start, End: r.Start + 1}) ||
					!compared.Contains(byterange.Range{Start: r.End - 1, End: r.End}) {
					t.Errorf("%v: the ends of %v are not in %v", have, r, compared)
				}
				for gap := range compared.Gaps(r) {
					if gap.Len() > have.Len()/continuedSamples {
						t.Errorf("%v: nothing of %v is compared", have, gap)
					}
				}
			}
			if compared.Len() > 3*size+(continuedSamples+6)*min(recheck.Unit, size) {
				t.Errorf("%v: %d bytes are compared", have, compared.Len())
			}
		}
	}
	if len(samplesOf(byterange.Set{}, manySamples)) > 0 {
		t.Error("samples of nothing")
	}
}
