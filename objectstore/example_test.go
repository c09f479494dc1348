package objectstore_test

import (
	"fmt"

	"braid/objectstore"
)

// Open opens a location in an object store, which is a bucket and a prefix. The environment has the address and the
// credentials of the store.
func ExampleOpen() {
	env := map[string]string{"AWS_ENDPOINT_URL_S3": "https://s3.example.net", "AWS_ACCESS_KEY_ID": "key",
		"AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-1"}
	store, err := objectstore.Open("s3://bucket/isos", objectstore.Options{Getenv: func(name string) string { return env[name] }})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Path("disk.iso"))
	// Output: s3://bucket/isos/disk.iso
}
