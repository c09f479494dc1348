package feed

import "testing"

func TestSeenUntil(t *testing.T) {
	const now = Time(1_800_000_000)
	for _, tt := range []struct {
		name string
		r    Record
		want Time // 0 if the site must be asked
	}{
		{"detected now", Record{Format: LIRS, LastModified: now - 5, Detected: now}, now + Validity},
		{"detected as long ago as may be", Record{Format: LIRS, LastModified: now - 5, Detected: now - Validity}, now},
		{"a second older", Record{Format: LIRS, LastModified: now - 5, Detected: now - Validity - 1}, 0},
		{"good for months", Record{Format: HinaDI, LastModified: 1_700_000_000, Detected: now, Expires: now + 1e7},
			now + Validity},
		{"never stale, and old", Record{Format: SOIF, LastModified: 1_700_000_000, Detected: now - Validity - 1}, 0},
		{"expires soon", Record{Format: HinaDI, LastModified: 1_700_000_000, Detected: now, Expires: now + 5}, now + 5},
		{"dated by its feed", Record{Format: HinaDI, LastModified: 1_700_000_000, FeedDate: now - 7}, now - 7 + Validity},
		{"not dated", Record{Format: HinaDI, LastModified: 1_700_000_000, Received: now}, 0},
		{"news", Record{Format: News, LastModified: 1_700_000_000, Detected: now}, 0},
		{"failed", Record{Format: LIRS, Failed: true, Detected: now}, 0},
		{"says nothing", Record{Format: LIRS, Detected: now}, 0},
		{"from the future", Record{Format: LIRS, LastModified: 1_700_000_000, Detected: now + Skew + 1}, 0},
	} {
		if until, ok := tt.r.SeenUntil(now); until != tt.want && ok || ok != (tt.want != 0) {
			t.Errorf("%s: until %d, %v, want %d", tt.name, until, ok, tt.want)
		}
	}
}

func TestUsable(t *testing.T) {
	const now = Time(1_800_000_000)
	if why, ok := (Record{Format: LIRS, LastModified: now, Detected: now}).Usable(now); !ok || why != "" {
		t.Errorf("a good record: %v, %v", why, ok)
	}
	if why, ok := (Record{Format: LIRS, LastModified: now, Detected: now}).Usable(now - Skew - 1); ok || why != DetectedInFuture {
		t.Errorf("one from the future: %v, %v", why, ok)
	}
}
