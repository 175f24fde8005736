package harness

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/yaml"

	celgate "github.com/celgate/celgate/go/admission/webhook/validating"
)

// webhookPlugin is what the harness asks of a webhook plugin.
type webhookPlugin interface {
	admission.ValidationInterface
	admission.InitializationValidator
	initializer.WantsExternalKubeInformerFactory
	initializer.WantsExternalKubeClientSet
	initializer.WantsUnconditionalAuthorizer
	initializer.WantsExcludedAdmissionResources
	initializer.WantsManifestLoaders
	initializer.WantsDrainedNotification
	webhookinitializer.WantsServiceResolver
	InspectFeatureGates(featuregate.FeatureGate)
}

// WebhookPair is upstream's webhook plugin and celgate's over one state, with one server for both.
type WebhookPair struct {
	Upstream, Celgate Validator
	Server            *WebhookServer
	State             *State
	// manifests are nil if there are none.
	manifests *WebhookManifests
}

// NewWebhookPair makes both plugins.
func NewWebhookPair(state *State, server *WebhookServer) (*WebhookPair, error) {
	return newWebhookPair(state, server, "", func(int, webhookPlugin) {})
}

// NewManifestWebhookPair makes both plugins with manifests, until ctx ends. The directory is watched, but need not have anything in it.
func NewManifestWebhookPair(ctx context.Context, state *State, server *WebhookServer, manifests *WebhookManifests, dir string) (*WebhookPair, error) {
	quickWebhookReloads()
	pair, err := newWebhookPair(state, server, staticConfiguration(dir), func(number int, plugin webhookPlugin) {
		plugin.SetManifestLoaders(&initializer.ManifestLoaders{LoadValidatingWebhookManifests: manifests.load(number)})
		plugin.SetDrainedNotification(ctx.Done())
	})
	if err == nil {
		pair.manifests, manifests.dir = manifests, dir
	}
	return pair, err
}

// NewStaticWebhookPair makes both plugins over a world, with manifests in a directory, until ctx ends.
func NewStaticWebhookPair(ctx context.Context, world *World, server *WebhookServer, dir string) (*WebhookPair, error) {
	state, err := NewState(world)
	if err != nil {
		return nil, err
	}
	return newWebhookPair(state, server, staticConfiguration(dir), func(_ int, plugin webhookPlugin) {
		plugin.SetManifestLoaders(&initializer.ManifestLoaders{LoadValidatingWebhookManifests: loadWebhooks})
		plugin.SetDrainedNotification(ctx.Done())
	})
}

// staticConfiguration is a plugin's configuration file.
func staticConfiguration(dir string) string {
	return fmt.Sprintf("apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\nstaticManifestsDir: %s\n", dir)
}

func newWebhookPair(state *State, server *WebhookServer, config string, prepare func(number int, plugin webhookPlugin)) (*WebhookPair, error) {
	file := func() io.Reader {
		if config == "" {
			return nil
		}
		return strings.NewReader(config)
	}
	theirs, err := upstream.NewValidatingAdmissionWebhook(file())
	if err != nil {
		return nil, err
	}
	ours, err := celgate.NewValidatingAdmissionWebhook(file())
	if err != nil {
		return nil, err
	}
	for number, plugin := range []webhookPlugin{theirs, ours} {
		prepare(number, plugin)
		if err := state.attachWebhooks(state.factory(), plugin, server); err != nil {
			return nil, err
		}
	}
	return &WebhookPair{Upstream: theirs, Celgate: ours, Server: server, State: state}, nil
}

// loadWebhooks reads manifests that need no defaults.
func loadWebhooks(dir string) ([]*v1.ValidatingWebhookConfiguration, string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "webhooks.yaml"))
	if err != nil {
		return nil, "", err
	}
	made := &v1.ValidatingWebhookConfiguration{}
	if err := yaml.Unmarshal(data, made); err != nil {
		return nil, "", err
	}
	return []*v1.ValidatingWebhookConfiguration{made}, string(data), nil
}

func (s *State) attachWebhooks(factory informers.SharedInformerFactory, plugin webhookPlugin, server *WebhookServer) error {
	base, err := url.Parse(server.server.URL)
	if err != nil {
		return err
	}
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetExternalKubeClientSet(s.client())
	plugin.SetUnconditionalAuthorizer(worldAuthorizer{s.world})
	plugin.SetExcludedAdmissionResources(excluded)
	plugin.SetServiceResolver(webhooktesting.NewServiceResolver(*base))
	plugin.InspectFeatureGates(utilfeature.DefaultFeatureGate)
	return plugin.ValidateInitialization()
}

// WebhookOutcome is what became of a request: what a user sees, and what webhooks were sent.
type WebhookOutcome struct {
	Outcome
	Calls []string
}

// Do sends a request through a plugin.
func (p *WebhookPair) Do(ctx context.Context, plugin Validator, request *Request) WebhookOutcome {
	p.Server.Calls()
	outcome := WebhookOutcome{Outcome: Observe(ctx, plugin, request.Copy(), p.State.Objects())}
	outcome.Calls = p.Server.Calls()
	outcome.Status = WithoutIDs(outcome.Status)
	// Webhooks that are called at once warn in any order.
	slices.Sort(outcome.Warnings)
	return outcome
}

// Refuses says whether upstream refuses a request in this way if it has one of the webhooks alone that the refusal names: of several refusals at
// once any may come first, and this one must be among them.
func (p *WebhookPair) Refuses(ctx context.Context, request *Request, refusal string) (bool, error) {
	for _, webhooks := range named(list[*v1.ValidatingWebhookConfiguration](p.State, webhooksResource), refusal) {
		if status, err := p.refusalOf(ctx, request, webhooks); err != nil || status == refusal {
			return err == nil, err
		}
	}
	if p.manifests == nil {
		return false, nil
	}
	for _, webhooks := range named(p.manifests.set, refusal) {
		if status, err := p.staticRefusalOf(ctx, request, webhooks); err != nil || status == refusal {
			return err == nil, err
		}
	}
	return false, nil
}

// named gives the webhooks that a text names, each in a configuration of its own.
func named(configurations []*v1.ValidatingWebhookConfiguration, text string) (alone []*v1.ValidatingWebhookConfiguration) {
	for _, configuration := range configurations {
		for _, webhook := range configuration.Webhooks {
			if strings.Contains(text, webhook.Name) {
				copied := configuration.DeepCopy()
				copied.Webhooks = []v1.ValidatingWebhook{webhook}
				alone = append(alone, copied)
			}
		}
	}
	return alone
}

// refusalOf is what upstream refuses a request with if there are no other webhooks.
func (p *WebhookPair) refusalOf(ctx context.Context, request *Request, webhooks *v1.ValidatingWebhookConfiguration) (string, error) {
	informer := newHandInformer()
	if err := informer.put(webhooks); err != nil {
		return "", err
	}
	theirs, err := upstream.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return "", err
	}
	return p.refusalBy(ctx, request, theirs, informer)
}

// staticRefusalOf is the same of webhooks that are in a manifest; nothing refuses anything if they cannot be.
func (p *WebhookPair) staticRefusalOf(ctx context.Context, request *Request, webhooks *v1.ValidatingWebhookConfiguration) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	theirs, err := upstream.NewValidatingAdmissionWebhook(strings.NewReader(staticConfiguration(p.manifests.dir)))
	if err != nil {
		return "", err
	}
	alone := NewWebhookManifests([]*v1.ValidatingWebhookConfiguration{webhooks})
	theirs.SetManifestLoaders(&initializer.ManifestLoaders{LoadValidatingWebhookManifests: alone.load(0)})
	theirs.SetDrainedNotification(ctx.Done())
	status, err := p.refusalBy(ctx, request, theirs, newHandInformer())
	if err != nil && strings.Contains(err.Error(), "failed to load static webhook manifests") {
		return "", nil
	}
	return status, err
}

func (p *WebhookPair) refusalBy(ctx context.Context, request *Request, theirs webhookPlugin, informer *handInformer) (string, error) {
	if err := p.State.attachWebhooks(p.State.factoryWith(informer), theirs, p.Server); err != nil {
		return "", err
	}
	return p.Do(ctx, theirs, request).Status, nil
}

// uuids are the names of reviews, of which no two are the same.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// WithoutIDs replaces the names of reviews in a text.
func WithoutIDs(text string) string { return uuids.ReplaceAllString(text, "UID") }

// Equal says whether two outcomes are the same but for which of several refusals came first.
func (o *WebhookOutcome) Equal(other *WebhookOutcome) bool {
	return o.Outcome.Equal(&other.Outcome) && slices.Equal(o.Calls, other.Calls)
}

// OnlyStatus says whether two outcomes differ in nothing but the refusal.
func (o *WebhookOutcome) OnlyStatus(other *WebhookOutcome) bool {
	return o.Status != "" && other.Status != "" && slices.Equal(o.Warnings, other.Warnings) && maps.Equal(o.Annotations, other.Annotations) &&
		slices.Equal(o.Calls, other.Calls)
}

// Text shows an outcome.
func (o *WebhookOutcome) Text() string {
	return fmt.Sprintf("%s\ncalls: %s", o.Outcome, strings.Join(o.Calls, "\n"))
}
