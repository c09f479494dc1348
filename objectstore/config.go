package objectstore

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// amazon is the endpoint of Amazon's store.
const amazon = "https://s3.amazonaws.com"

// A config is the configuration of an object store, as read from the environment and from the files in ~/.aws.
type config struct {
	endpoint    *url.URL
	region      string
	lookup      minio.BucketLookupType
	bundle      string
	credentials *credentials.Credentials
}

// readConfig reads the configuration from the variables AWS_* and from the files in ~/.aws.
func readConfig(getenv func(string) string) (c config, err error) {
	profile := cmp.Or(getenv("AWS_PROFILE"), getenv("AWS_DEFAULT_PROFILE"), "default")
	folder := awsFolder(getenv)
	settings, err := readProfile(cmp.Or(getenv("AWS_CONFIG_FILE"), filepath.Join(folder, "config")), profile)
	if err != nil {
		return c, err
	}
	c.region = cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), settings["region"])
	c.bundle = cmp.Or(getenv("AWS_CA_BUNDLE"), settings["ca_bundle"])
	word := cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), settings["s3.endpoint_url"],
		settings["endpoint_url"], amazon)
	if c.endpoint, err = url.Parse(word); err != nil || c.endpoint.Host == "" || c.endpoint.User != nil ||
		strings.Trim(c.endpoint.Path, "/") != "" || c.endpoint.Scheme != "http" && c.endpoint.Scheme != "https" {
		return c, errors.New("the endpoint (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url in ~/.aws/config) " +
			"is not https://HOST")
	}
	switch style := settings["s3.addressing_style"]; style {
	case "", "auto":
	case "path":
		c.lookup = minio.BucketLookupPath
	case "virtual":
		c.lookup = minio.BucketLookupDNS
	default:
		return c, fmt.Errorf("addressing_style = %.20q in ~/.aws/config: write path, virtual or auto", style)
	}
	c.credentials, err = readCredentials(getenv,
		cmp.Or(getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(folder, "credentials")), profile)
	return c, err
}

func awsFolder(getenv func(string) string) string {
	return filepath.Join(cmp.Or(getenv("HOME"), getenv("USERPROFILE")), ".aws")
}

var errNoCredentials = errors.New("no credentials")

// readCredentials returns the credentials in the environment, or else those in file, or else those from the service
// that the environment names for a container or a role.
func readCredentials(getenv func(string) string, file, profile string) (*credentials.Credentials, error) {
	id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	if id != "" && secret != "" {
		return credentials.NewStaticV4(id, secret, getenv("AWS_SESSION_TOKEN")), nil
	}
	if id != "" || secret != "" {
		return nil, fmt.Errorf("%w: one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is missing", errNoCredentials)
	}
	found, err := readProfile(file, profile)
	if err != nil {
		return nil, err
	}
	if found["aws_access_key_id"] != "" || found["credential_process"] != "" {
		return credentials.NewFileAWSCredentials(file, profile), nil
	}
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if getenv(name) != "" {
			return credentials.NewIAM(""), nil
		}
	}
	if getenv("AWS_EC2_METADATA_DISABLED") == "false" { // only if it is set: elsewhere, the request would hang
		return credentials.NewIAM(""), nil
	}
	return nil, errNoCredentials
}

// readProfile returns the settings of a profile in the file at path. The setting addressing_style below s3 is called
// "s3.addressing_style". A missing file has no settings.
func readProfile(path, profile string) (map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	settings, err := parseProfile(f, profile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return settings, nil
}

func parseProfile(r io.Reader, profile string) (map[string]string, error) {
	settings, within, below := map[string]string{}, false, ""
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
			continue
		case text[0] == '[':
			name := strings.TrimSpace(strings.TrimPrefix(strings.Trim(text, "[]"), "profile "))
			within, below = name == profile, ""
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		switch indented := line[0] == ' ' || line[0] == '\t'; {
		case !ok || !within:
		case indented && below != "":
			settings[below+"."+name] = value
		case value == "":
			below = name
		default:
			settings[name], below = value, ""
		}
	}
	return settings, lines.Err()
}
