package antenna_test

import (
	"fmt"
	"os"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
)

// WriteFolder writes a folder for a web server: feeds for agents and a page for people.
func ExampleWriteFolder() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	seen := feed.Known{Own: true, Record: feed.Record{URL: "http://example.org/disk.iso", LastModified: 1794260000,
		Detected: 1794261800}}
	_, err = antenna.WriteFolder(dir, feed.Snapshot{
		Records: []feed.Known{seen}, Agent: "example/1.0", AgentURL: "http://antenna.example.org/", Now: time.Unix(1794261900, 0),
	}, antenna.FolderOptions{Title: "Mirrors"})
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := os.ReadDir(dir)
	for _, f := range files {
		fmt.Println(f.Name())
	}
	fmt.Println(err)
	// Output:
	// antenna.lirs
	// antenna.lirs.gz
	// antenna.soif
	// atom.xml
	// hina.di
	// index.html
	// <nil>
}
