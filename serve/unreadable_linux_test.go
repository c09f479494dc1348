package serve

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody calls f in a thread of another user.
func asNobody(t *testing.T, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	f()
	if err := syscall.Setfsuid(os.Geteuid()); err != nil {
		t.Fatal(err)
	}
}

// Files and folders that cannot be read are not listed. Root can read everything, so the test uses another
// user.
func TestUnreadable_V11(t *testing.T) {
	w := start(t, map[string]string{"open": content, "closed": content, "shut/x": ""}, Options{})
	for _, name := range []string{"closed", "shut"} {
		if err := os.Chmod(filepath.Join(w.dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(w.dir, "shut"), 0o700) })
	var page []byte
	var err error
	asNobody(t, func() { page, _, err = w.s.page(".") })
	list := string(page)
	if err != nil || !strings.Contains(list, "open") || strings.Contains(list, "closed") || strings.Contains(list, "shut") {
		t.Errorf("%v, %s", err, list)
	}
}

// A name that may be an alias is not served if the folder cannot be listed, because it may be that of a hidden file.
func TestAliasUnlisted_Rule10(t *testing.T) {
	w := start(t, map[string]string{"GIT~1": "secret", "plain": content}, Options{})
	if err := os.Chmod(w.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(w.dir, 0o700) })
	for name, want := range map[string]int{"/GIT~1": http.StatusNotFound, "/plain": http.StatusOK} {
		res := httptest.NewRecorder()
		asNobody(t, func() { w.s.ServeHTTP(res, mustRequest(t, name)) })
		if res.Code != want {
			t.Errorf("%s: %d, %s", name, res.Code, res.Body)
		}
	}
}
