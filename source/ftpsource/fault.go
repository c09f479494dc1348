package ftpsource

import (
	"errors"

	"braid/source"
)

// classify returns the fault of err, and whether another attempt makes sense.
func classify(err error) (fault source.Fault, retry bool) {
	var login *loginError
	var said *Error
	switch {
	case errors.Is(err, errLongLine), errors.Is(err, errManyLines): // rule 58
		return source.FaultLimit, false
	case errors.As(err, &login):
		if login.said.Code/100 != 4 {
			return source.FaultAuth, false
		}
		said = login.said
	case !errors.As(err, &said):
		return source.NetworkFault(err)
	}
	return said.fault()
}

// fault classifies a refusal of the server (RFC 959, section 4.2.2).
func (e *Error) fault() (fault source.Fault, retry bool) {
	transient := e.Code/100 == 4
	switch {
	case e.Command == "AUTH" || e.Command == "PBSZ" || e.Command == "PROT":
		return source.FaultTLS, transient
	case e.Code == 425 || e.Code == 426: // no data connection, or a broken one
		return source.FaultNetwork, true
	case e.Code == 530 || e.Code == 532:
		return source.FaultAuth, false
	case e.Code < 400:
		return source.FaultProtocol, false
	}
	return source.FaultRefused, transient
}
