package worlds

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/celgate/celgate/go/internal/harness"
)

// Report is what a run found.
type Report struct {
	lock        sync.Mutex
	start       time.Time
	requests    int
	shares      [shareCount]int
	differences []*Found
}

// Found is a difference.
type Found struct {
	World      int
	Difference harness.Difference
	// Path is where the case was saved, "" if it was not.
	Path string
}

func newReport() *Report { return &Report{start: time.Now()} }

// save keeps the case of a difference.
func (f *Found) save(options Options, script *harness.Script) error {
	if options.Save == "" {
		return nil
	}
	c, err := harness.FromScript(script)
	if err != nil {
		return err
	}
	f.Path = filepath.Join(options.Save, fmt.Sprintf("world-%d-%d.json", options.Seed, f.World))
	return c.Save(f.Path)
}

// share is what became of a request.
type share int

const (
	notMatched share = iota
	allowed
	denied
	failed
	shareCount
)

func (s share) String() string {
	return [...]string{"not matched", "allowed", "denied", "errors"}[s]
}

// smallestShare is what each share must have at least, or the worlds show too little.
const smallestShare = 0.05

// errorTexts tell outcomes of errors from those of failed validations.
var errorTexts = []string{"resulted in error", "compilation error", "failed to configure", "cost budget", "failed messageExpression", "not found"}

func shareOf(outcome *harness.Outcome, matched bool) share {
	if !matched {
		return notMatched
	}
	// The error decides; what was only told of besides does not make a refusal an error.
	text := outcome.Status
	if text == "" {
		text = strings.Join(outcome.Warnings, "\n")
		for _, value := range outcome.Annotations {
			text += value
		}
	}
	for _, sign := range errorTexts {
		if strings.Contains(text, sign) {
			return failed
		}
	}
	if outcome.Status != "" {
		return denied
	}
	return allowed
}

func (r *Report) add(played *harness.Played) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.requests += len(played.Outcomes)
	for i := range played.Outcomes {
		r.shares[shareOf(&played.Outcomes[i], played.Matched[i])]++
	}
}

// addWebhooks counts a request to webhooks: with neither calls nor anything to tell, none matched.
func (r *Report) addWebhooks(outcome *harness.WebhookOutcome) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.requests++
	switch {
	case outcome.Status == "" && len(outcome.Calls) == 0 && len(outcome.Annotations) == 0:
		r.shares[notMatched]++
	case outcome.Status == "":
		r.shares[allowed]++
	case strings.Contains(outcome.Status, "denied the request"):
		r.shares[denied]++
	default:
		r.shares[failed]++
	}
}

// addRequests counts requests that are in no share.
func (r *Report) addRequests(count int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.requests += count
}

// found notes a difference and says how many there are.
func (r *Report) found(difference *Found) int {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.differences = append(r.differences, difference)
	return len(r.differences)
}

func (r *Report) summary() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	var text strings.Builder
	fmt.Fprintf(&text, "%d requests, %.0f requests/s:", r.requests, float64(r.requests)/time.Since(r.start).Seconds())
	for s := range shareCount {
		if r.shares == [shareCount]int{} {
			break
		}
		fmt.Fprintf(&text, " %s %.1f %%,", s, 100*float64(r.shares[s])/float64(max(r.requests, 1)))
	}
	fmt.Fprintf(&text, " %d differences", len(r.differences))
	return text.String()
}

// Print writes the report.
func (r *Report) Print(out io.Writer) {
	for _, found := range r.differences {
		fmt.Fprintf(out, "world %d differs in %s at request %d\n%s\n", found.World, found.Difference.What, found.Difference.Step, found.Difference.Text)
		if found.Path != "" {
			fmt.Fprintf(out, "saved as %s\n", found.Path)
		}
	}
	fmt.Fprintln(out, r.summary())
}

// Err says what is wrong with what was found, nil if nothing is.
func (r *Report) Err() error {
	if n := len(r.differences); n > 0 {
		return fmt.Errorf("%d worlds differ", n)
	}
	total := 0
	for _, count := range r.shares {
		total += count
	}
	for s, count := range r.shares {
		if float64(count) < smallestShare*float64(total) {
			return fmt.Errorf("only %d of %d requests: %s", count, total, share(s))
		}
	}
	return nil
}
