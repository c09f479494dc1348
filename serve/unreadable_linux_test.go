package serve

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Files and folders that cannot be read are not listed. Root can read everything, so the test uses another user for
// this thread.
func TestUnreadable_V11(t *testing.T) {
	w := start(t, map[string]string{"open": content, "closed": content, "shut/x": ""}, Options{})
	for _, name := range []string{"closed", "shut"} {
		if err := os.Chmod(filepath.Join(w.dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(w.dir, "shut"), 0o700) })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	page, _, err := w.s.page(".")
	if err := syscall.Setfsuid(os.Geteuid()); err != nil {
		t.Fatal(err)
	}
	list := string(page)
	if err != nil || !strings.Contains(list, "open") || strings.Contains(list, "closed") || strings.Contains(list, "shut") {
		t.Errorf("%v, %s", err, list)
	}
}
