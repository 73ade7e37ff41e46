package tools

import "context"

// Net is the network as a call may use it (N1 to N7): http and https to
// public addresses, and to what the user's own configuration grants the tool.
type Net interface {
	// Do makes one request. It follows redirects within the host alone. What is
	// refused is an *Error, and nothing was sent.
	Do(ctx context.Context, r Request) (*Response, error)
}

// AddressChecker is a [Net] that can refuse an address by its text alone, before the
// user is asked about it.
type AddressChecker interface {
	// Check returns an *Error for an address that would be refused in any case. It looks
	// nothing up and sends nothing.
	Check(url string) error
}

// Request is one request.
type Request struct {
	URL string
	// Method is GET when empty.
	Method string
	// Header is sent to the URL's own origin alone.
	Header map[string]string
	Body   []byte
	// MaxBytes bounds the decoded body; 0 means 5 MiB (N6).
	MaxBytes int64
}

// Response is what came back.
type Response struct {
	// URL is that of the last hop.
	URL         string
	Status      int
	ContentType string
	// Body is decoded, at most MaxBytes of it; Cut says that there was more.
	Body []byte
	Cut  bool
	// Redirect is where the answer leads when that is another host, which is a
	// decision of its own: it was not followed, and Body is empty (N4).
	Redirect string
}
