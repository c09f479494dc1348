package watch

import (
	"testing"

	"braid/address"
	"braid/internal/job"
)

// A very slow download makes room by default, and with "0" it does not.
func TestLowestSpeedLimit(t *testing.T) {
	const one = "[watch.a]\nurl = 'https://example.org/a'\ndir = 'a'\ncheck-every = '1h'\n"
	for text, want := range map[string]int64{"": DefaultLowest, "lowest-speed-limit = '0'\n": 0,
		"lowest-speed-limit = '5K'\n": 5 << 10} {
		c, err := ParseConfig([]byte(text+one), ConfigOptions{Dir: "/etc"})
		if err != nil || c.Lowest != want {
			t.Fatalf("%q: %+v, %v", text, c, err)
		}
		client, err := watchClient(&Loaded{Config: c, Folder: t.TempDir()}, address.Hosts{}, job.NewSites(&job.Settings{}))
		if err != nil || client.LowestSpeed != want {
			t.Errorf("%q: %+v, %v", text, client, err)
		}
	}
}
