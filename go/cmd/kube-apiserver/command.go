package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// server is one kube-apiserver to be: upstream's options and ours.
type server struct {
	upstream *options.ServerRunOptions
	engine   engine
	embedded embeddedOptions
}

// newCommand makes the command. Upstream's app.NewAPIServerCommand keeps its options to itself, so
// this does what that does around the exported options and app.Run, and lets ours in between.
func newCommand() *cobra.Command {
	s := &server{upstream: options.NewServerRunOptions(), engine: engineCelgate}
	cmd := &cobra.Command{
		Use:   "kube-apiserver",
		Short: "Kubernetes API server with celgate's admission policy engine",
		Long: `Upstream's Kubernetes API server with celgate's engine for
ValidatingAdmissionPolicy and ValidatingAdmissionWebhook in place of the
built-in one. --embedded-etcd turns it
into a complete server for one machine that needs nothing but a directory.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			// The server's own clients are not told about deprecated APIs.
			rest.SetDefaultWarningHandler(rest.NoWarnings{})
			return s.upstream.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			return s.run(genericapiserver.SetupSignalContext(), cmd.Flags())
		},
	}

	sections := s.flags(cmd.Name())
	s.upstream.Flagz = flagz.NamedFlagSetsReader{FlagSets: sections}
	for _, section := range sections.FlagSets {
		cmd.Flags().AddFlagSet(section)
	}
	columns, _, _ := term.TerminalSize(cmd.OutOrStdout())
	cliflag.SetUsageAndHelpFunc(cmd, sections, columns)
	return cmd
}

// flags are upstream's sections, with ours first in --help.
func (s *server) flags(name string) cliflag.NamedFlagSets {
	sections := s.upstream.Flags()
	global := sections.FlagSet("global")
	verflag.AddFlags(global)
	globalflag.AddGlobalFlags(global, name, logs.SkipLoggingConfigurationFlags())

	const ours = "celgate"
	fs := sections.FlagSet(ours)
	fs.Var(&s.engine, "admission-engine", s.engine.usage())
	s.embedded.addFlags(fs)
	sections.Order = append([]string{ours}, sections.Order[:len(sections.Order)-1]...)
	return sections
}

// run serves until ctx ends. fs has the parsed flags.
func (s *server) run(ctx context.Context, fs *pflag.FlagSet) (err error) {
	gates := s.upstream.GenericServerRunOptions.ComponentGlobalsRegistry.FeatureGateFor(compatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(s.upstream.Logs, gates); err != nil {
		return err
	}
	if err := s.engine.check(); err != nil {
		return err
	}
	s.upstream.Admission.GenericAdmission.Plugins = s.engine.plugins()

	if s.embedded.enabled {
		instance, startErr := s.startEmbedded(ctx, fs)
		if startErr != nil {
			return startErr
		}
		// An etcd that failed is why the server stopped: its error is the one to report.
		defer func() { err = utilerrors.NewAggregate([]error{instance.close(), err}) }()
		go instance.announce(ctx)
	}
	cliflag.PrintFlags(fs)

	completed, err := s.upstream.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	if mutable, ok := gates.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	s.upstream.GenericServerRunOptions.ComponentGlobalsRegistry.AddMetrics()
	klog.InfoS("Admission engine", "engine", s.engine)
	if err := app.Run(ctx, completed); err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	return nil
}
