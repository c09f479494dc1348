package byterange

import "testing"

func TestRange(t *testing.T) {
	for _, tt := range []struct {
		r             Range
		len           int64
		empty         bool
		text, request string
	}{
		{Range{}, 0, true, "empty", ""},
		{Range{7, 7}, 0, true, "empty", ""},
		{Range{9, 7}, 0, true, "empty", ""},
		{Range{Unbounded, Unbounded}, 0, true, "empty", ""},
		{Range{0, 1}, 1, false, "0-0", "bytes=0-0"},
		{Range{0, 500}, 500, false, "0-499", "bytes=0-499"},
		{Range{500, Unbounded}, Unbounded - 500, false, "500-", "bytes=500-"},
		{Range{0, Unbounded}, Unbounded, false, "0-", "bytes=0-"},
		{Range{0, Unbounded - 1}, Unbounded - 1, false, "0-9223372036854775805", "bytes=0-9223372036854775805"},
	} {
		if got := tt.r.Len(); got != tt.len {
			t.Errorf("%v: Len is %d, want %d", tt.r, got, tt.len)
		}
		if got := tt.r.Empty(); got != tt.empty {
			t.Errorf("%v: Empty is %t, want %t", tt.r, got, tt.empty)
		}
		if got := tt.r.String(); got != tt.text {
			t.Errorf("%d to %d: String is %q, want %q", tt.r.Start, tt.r.End, got, tt.text)
		}
		if got := tt.r.Field(); got != tt.request {
			t.Errorf("%v: Field is %q, want %q", tt.r, got, tt.request)
		}
	}
}

func TestRangeContains(t *testing.T) {
	for _, tt := range []struct {
		r    Range
		off  int64
		want bool
	}{
		{Range{2, 4}, 1, false},
		{Range{2, 4}, 2, true},
		{Range{2, 4}, 3, true},
		{Range{2, 4}, 4, false},
		{Range{4, 2}, 3, false},
		{Range{2, 2}, 2, false},
		{Range{2, Unbounded}, Unbounded - 1, true},
	} {
		if got := tt.r.Contains(tt.off); got != tt.want {
			t.Errorf("%v: Contains(%d) is %t, want %t", tt.r, tt.off, got, tt.want)
		}
	}
}

func TestRangeIntersect(t *testing.T) {
	for _, tt := range []struct{ a, b, want Range }{
		{Range{0, 10}, Range{5, 15}, Range{5, 10}},
		{Range{0, 10}, Range{2, 3}, Range{2, 3}},
		{Range{0, 10}, Range{10, 15}, Range{}},
		{Range{0, 10}, Range{12, 15}, Range{}},
		{Range{0, 10}, Range{5, 5}, Range{}},
		{Range{0, 10}, Range{8, 3}, Range{}},
		{Range{5, Unbounded}, Range{0, 10}, Range{5, 10}},
		{Range{5, Unbounded}, Range{7, Unbounded}, Range{7, Unbounded}},
	} {
		if got := tt.a.Intersect(tt.b); got != tt.want {
			t.Errorf("%v and %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := tt.b.Intersect(tt.a); got != tt.want {
			t.Errorf("%v and %v: %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}
