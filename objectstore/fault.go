package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"braid/download"
	"braid/internal/web"
	"braid/source"
)

// The error codes that are handled specially.
const (
	noSuchUpload   = "NoSuchUpload"
	noSuchKey      = "NoSuchKey"
	preconditioned = "PreconditionFailed"
	conflict       = "ConditionalRequestConflict"
)

// codeOf returns the error code in a store's response, or "" if err is not such a response.
func codeOf(err error) string {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !ok:
		return ""
	case r.StatusCode == http.StatusPreconditionFailed:
		return preconditioned
	case r.StatusCode == http.StatusConflict && r.Code != "OperationAborted":
		return conflict
	case r.StatusCode == http.StatusNotFound && (r.Code == "" || r.Code == "NotFound"):
		return noSuchKey
	}
	return r.Code
}

const (
	hintCredentials download.Hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
		"or a profile in ~/.aws/credentials (AWS_PROFILE)"
	hintRights download.Hint = "give the access key the permissions s3:PutObject, s3:GetObject, s3:ListBucket, " +
		"s3:AbortMultipartUpload and s3:ListMultipartUploadParts there"
	hintEndpoint download.Hint = "set AWS_ENDPOINT_URL_S3 to the URL of the store and AWS_REGION to its region"
	hintAgain    download.Hint = "run the same command to resume"
)

// configFault returns the error for an invalid configuration of the store at place.
func configFault(place string, err error) *download.Error {
	e := &download.Error{Kind: download.Usage, What: "store", Where: place, Err: err, Hint: hintEndpoint}
	if errors.Is(err, errNoCredentials) {
		e.Kind, e.Hint = download.Auth, hintCredentials
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		e.Kind, e.Hint = download.Local, ""
	}
	if _, ok := errors.AsType[*web.VariableError](err); ok {
		e.Hint = ""
	}
	return e
}

// fault converts err, the error of a request about key, to a *download.Error of the fitting kind. If ctx is done, it
// returns the cause of ctx. It returns nil if err is nil.
func (s *Store) fault(ctx context.Context, key string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if own, ok := errors.AsType[*download.Error](err); ok {
		return own
	}
	e := &download.Error{What: "store", Where: "s3://" + s.bucket + "/" + key, Hint: hintAgain}
	if r, ok := errors.AsType[minio.ErrorResponse](err); ok {
		e.Kind, e.Hint = judge(r, e.Hint)
		r.Code, r.Message = s.masked(r.Code), s.masked(r.Message)
		e.Err = fmt.Errorf("%s answers %s", s.endpoint, plainly(r))
		return e
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	e.Kind, e.Err = download.Network, fmt.Errorf("%s: %w", s.endpoint, hidden{err})
	if errors.Is(err, errEndless) || errors.Is(err, errLongAnswer) {
		e.Kind, e.Hint = download.Protocol, ""
	}
	if err.Error() == "http: server gave HTTP response to HTTPS client" {
		e.Kind, e.Hint = download.TLS, hintEndpoint
	} else if fault, _ := source.NetworkFault(err); fault == source.FaultTLS {
		e.Kind, e.Hint = download.TLS, "name a file of trusted certificates in AWS_CA_BUNDLE"
	}
	return e
}

// masked returns text, which the store sent, without the credentials.
func (s *Store) masked(text string) string {
	if s.access == nil || s.access.IsExpired() {
		return text
	}
	v, err := s.access.GetWithContext(nil)
	if err != nil {
		return text
	}
	for _, secret := range []string{v.SecretAccessKey, v.SessionToken} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "...")
		}
	}
	return text
}

// judge returns the kind of error that r means, and a hint. The hint again means that the same command may succeed later.
func judge(r minio.ErrorResponse, again download.Hint) (download.Kind, download.Hint) {
	switch r.Code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
		return download.Auth, hintCredentials
	case "RequestTimeTooSkewed":
		return download.Auth, "set the clocks of this machine and of the store: they differ"
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException", "InvalidRegion":
		return download.Usage, hintEndpoint
	case "NoSuchBucket", "InvalidBucketName":
		return download.Refused, "create the bucket with another program; " + hintEndpoint
	case "EntityTooLarge", "QuotaExceeded", "InsufficientStorage", "XMinioStorageFull":
		return download.Limit, "make room in the store, or raise its limit on sizes"
	case "BadDigest", "XAmzContentSHA256Mismatch", "InvalidDigest":
		return download.Mismatch, again
	}
	switch {
	case r.StatusCode == http.StatusNotImplemented || r.StatusCode == http.StatusMethodNotAllowed:
		if foreign(r) {
			return download.Usage, "is this an object store? " + hintEndpoint
		}
		return download.Refused, "use another store: this one does not support a request that braid needs"
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return download.Auth, hintRights
	case r.StatusCode == http.StatusInsufficientStorage:
		return download.Limit, "make room in the store, or raise its limit on sizes"
	case r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests:
		return download.Network, again
	}
	return download.Refused, ""
}

// plainly describes r briefly, such as "403 AccessDenied: Access Denied".
func plainly(r minio.ErrorResponse) string {
	code := r.Code[:min(len(r.Code), 60)]
	if foreign(r) {
		return code
	}
	text := strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, code))
	if message := r.Message; message != "" && message != r.Code {
		text += ": " + strings.TrimSuffix(message[:min(len(message), 200)], ".")
	}
	return text
}

// foreign reports whether r is from something else than an object store. Its code is then the status line, and its
// message may be an HTML page.
func foreign(r minio.ErrorResponse) bool {
	return strings.HasPrefix(r.Code, strconv.Itoa(r.StatusCode)+" ")
}

// A hidden error cannot be unwrapped, so that the cause of a store's error is not mistaken for an error of the file or
// its sources.
type hidden struct{ error }

// lost returns the error for an upload of key that another process has aborted.
func (s *Store) lost(key string) error {
	return &download.Error{
		Kind: download.Local, What: "store", Where: "s3://" + s.bucket + "/" + key,
		Err:  errors.New("the upload no longer exists: another process has aborted it"),
		Hint: "run the same command to start over",
	}
}
