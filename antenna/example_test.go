package antenna_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"braid/antenna"
)

// A feed reports that a watched file has changed. The handler gets the report as a hint and downloads the file itself.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	feed := filepath.Join(dir, "antenna.lirs")
	now := time.Now().Unix() // modified an hour ago, detected a minute ago
	err = os.WriteFile(feed, fmt.Appendf(nil,
		"LIRS,%d,%d,32400,0,http://example.org/disk.iso,disk,me,http://antenna.example.jp/,\n", now-3600, now-60), 0o644)
	if err != nil {
		fmt.Println(err)
		return
	}

	a := &antenna.Antenna{
		Feeds:   []antenna.Feed{{Name: "mine", URL: feed, Local: true}},
		Watches: []antenna.Watch{{Name: "disk", URL: "http://example.org/disk.iso"}},
	}
	err = a.Once(context.Background(), func(_ context.Context, u antenna.Update) (antenna.Outcome, error) {
		fmt.Println(u.Watch, u.URL, "by", u.Feed)
		return antenna.Outcome{Changed: true, ETag: `"1"`}, nil // a nil error acknowledges the update
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: disk http://example.org/disk.iso by mine
}
