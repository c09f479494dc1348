package report_test

import (
	"bytes"
	"fmt"
	"time"

	"braid/download"
	"braid/internal/report"
)

// The events of a download result in a page.
func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rec := report.NewRecorder(now)
	rec.Observe(now, download.Started{URL: "https://example.org/disk.iso", Path: "disk.iso"})
	rec.Observe(now.Add(time.Second), download.Progress{Done: 1 << 20, Size: 1 << 20, Rate: 1 << 20, Active: 1})
	rec.End(now.Add(time.Second), download.Result{Path: "disk.iso", Size: 1 << 20}, nil)
	var page report.Page
	page.Add(rec)
	html := page.HTML()
	fmt.Println(bytes.HasPrefix(html, []byte(report.Magic)), bytes.Contains(html, []byte("disk.iso")))
	// Output: true true
}
