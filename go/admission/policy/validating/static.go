package validating

import (
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/manifest/source"
)

// SetManifestLoaders gives the functions that read static policies from manifests, with the API's defaulting and validation.
func (p *Plugin) SetManifestLoaders(loaders *initializer.ManifestLoaders) {
	if loaders == nil || loaders.LoadValidatingPolicyManifests == nil {
		return
	}
	load := loaders.LoadValidatingPolicyManifests
	p.SetStaticSourceFactory(func(dir string) (generic.ReloadableSource[PolicyHook], error) {
		static := source.NewStaticPolicySource(dir, p.GetAPIServerID(), compileStatic,
			func(dir string) ([]*Policy, []*PolicyBinding, string, error) { return load(dir) },
			func(binding *PolicyBinding) string { return binding.Spec.PolicyName },
			metrics.VAPManifestType,
		)
		if err := static.LoadInitial(); err != nil {
			return nil, err
		}
		p.static = static
		p.publisher.statics = static.Hooks
		return static, nil
	})
}

// compileStatic compiles a static policy. One that does not compile as a whole keeps the manifests from being loaded.
func compileStatic(policy *Policy) (*Evaluator, error) {
	evaluator, err := compilePolicy(policy)
	if err != nil {
		return nil, err
	}
	if err := evaluator.CompileError(); err != nil {
		return nil, err
	}
	return evaluator, nil
}
