package bootstrap

import (
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// clusterName is the name of the only cluster in a written kubeconfig.
const clusterName = "celgate"

// WriteKubeconfig writes a kubeconfig with one context per user, named after the user; the first
// user's is current. caPEM is what the server's certificate is verified with.
func WriteKubeconfig(path, serverURL string, caPEM []byte, users []User) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[clusterName] = &clientcmdapi.Cluster{Server: serverURL, CertificateAuthorityData: caPEM}
	for _, user := range users {
		config.AuthInfos[user.Name] = &clientcmdapi.AuthInfo{Token: user.Token}
		config.Contexts[user.Name] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: user.Name}
	}
	if len(users) > 0 {
		config.CurrentContext = users[0].Name
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return writeFile(path, data, 0o600)
}
