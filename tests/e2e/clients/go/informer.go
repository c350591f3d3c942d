// Shared informers of client-go on the pods and the PodGroups of a namespace: every call of a handler is printed, one a
// line, until standard input ends.
package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const namespace = "default"

var podGroups = schema.GroupVersionResource{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Resource: "podgroups"}

var printing sync.Mutex

func say(format string, arguments ...any) {
	printing.Lock()
	defer printing.Unlock()
	fmt.Printf(format+"\n", arguments...)
}

// told prints a change to an object; obj is a tombstone where the informer missed the deletion itself.
func told(resource, change string, obj any) {
	if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = missed.Obj
	}
	found, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	say("%s %s %s %v", change, resource, found.GetName(), found.GetLabels()["step"])
}

func follow(resource string, informer cache.SharedIndexInformer) {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { told(resource, "ADDED", obj) },
		UpdateFunc: func(_, obj any) { told(resource, "MODIFIED", obj) },
		DeleteFunc: func(obj any) { told(resource, "DELETED", obj) },
	})
	if err != nil {
		panic(err)
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	typed := informers.NewSharedInformerFactoryWithOptions(
		kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace(namespace))
	untyped := dynamicinformer.NewFilteredDynamicSharedInformerFactory(
		dynamic.NewForConfigOrDie(config), 0, namespace, nil)
	pods, groups := typed.Core().V1().Pods(), untyped.ForResource(podGroups)
	follow("pod", pods.Informer())
	follow("podgroup", groups.Informer())
	stop := make(chan struct{})
	typed.Start(stop)
	untyped.Start(stop)
	cache.WaitForCacheSync(stop, pods.Informer().HasSynced, groups.Informer().HasSynced)
	listed, _ := pods.Lister().Pods(namespace).Get("before")
	say("SYNCED pod %s %s", listed.GetName(), listed.Spec.NodeName)
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(stop)
}
