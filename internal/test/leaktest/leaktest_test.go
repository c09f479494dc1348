package leaktest

import (
	"testing"
	"time"
)

// A goroutine that ends late is none that stays.
func TestFind(t *testing.T) {
	done := make(chan struct{})
	go func() { <-done }()
	if find(0) == nil {
		t.Error("a goroutine that stays is not found")
	}
	time.AfterFunc(time.Second, func() { close(done) })
	if err := find(patience); err != nil {
		t.Errorf("one that ended after a second: %v", err)
	}
}
