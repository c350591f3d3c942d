"""One kubectl session, command by command: what a user does in an afternoon.

Each command is written as in a shell, in the folder `objects`, in the namespace NAMESPACE.
"""

from dataclasses import dataclass

NAMESPACE = "kubectl-session"


@dataclass(frozen=True, slots=True)
class Command:
    """`only`: lines without this text are left out, where a fake container and a real one print different things.

    `last`: only the last line counts, where the way there depends on how fast things go.
    """

    line: str
    only: str = ""
    last: bool = False


_WEB_PODS = "--selector app=web"
_FIELDS = """-o 'custom-columns=NAME:.metadata.name,READY:.status.conditions[?(@.type=="Ready")].status'"""
_EVENTS = (
    "-o custom-columns=TYPE:.type,REASON:.reason,KIND:.involvedObject.kind,TEXT:.message --sort-by .reason"
)

SESSION = (
    Command(f"create namespace {NAMESPACE}"),
    Command(f"get namespace {NAMESPACE}"),
    Command("create configmap settings --from-literal=level=1 --from-literal=mode=fast"),
    Command("create configmap settings --from-literal=level=1"),
    Command("get configmap settings"),
    Command("get configmap settings -o yaml"),
    Command("create -f settings.yaml --dry-run=server -o name"),
    Command("get configmap shared"),
    Command("create -f wrong.yaml"),
    Command("create -f misspelt.yaml"),
    # A Deployment from its birth to its second version and back.
    Command("apply -f web.yaml"),
    Command("rollout status deployment/web --timeout=120s", last=True),
    Command("get deployment web"),
    Command("get deployment web -o wide"),
    Command("get deployment web -o yaml"),
    Command("get deployment web -o json"),
    Command("get replicasets"),
    Command(f"get pods {_WEB_PODS}"),
    Command(f"get pods {_WEB_PODS} -o wide"),
    Command(f"get pods {_WEB_PODS} -o name --chunk-size=1"),
    Command(f"get pods {_WEB_PODS} {_FIELDS}"),
    Command(f"get pods {_WEB_PODS} -o yaml"),
    Command("get pods --field-selector status.phase=Pending"),
    Command("get all"),
    Command("get deployment web -o jsonpath={.status.readyReplicas}/{.spec.replicas}"),
    Command("get deployment web -o go-template={{.metadata.name}}"),
    Command("describe deployment web"),
    Command("describe replicaset web"),
    Command(f"describe pods {_WEB_PODS}"),
    Command("logs deployment/web", only="SESSION_"),
    Command(f"logs {_WEB_PODS} --tail=-1 --prefix", only="SESSION_COLOUR"),
    Command("logs deployment/web --timestamps --since=1h", only="SESSION_NAMESPACE"),
    Command("logs deployment/web --previous"),
    Command("logs deployment/web -c other"),
    Command("label deployment web team=blue"),
    Command("label deployment web team=red"),
    Command("label deployment web team=red --overwrite"),
    Command("annotate deployment web kubernetes.io/change-cause=first"),
    Command("get deployments -L team -l team=red"),
    Command("diff -f web-2.yaml", only="SESSION_COLOUR"),
    Command("diff -f web-2.yaml"),
    Command("apply -f web-2.yaml"),
    Command("annotate deployment web kubernetes.io/change-cause=second --overwrite"),
    Command("rollout status deployment/web --timeout=120s", last=True),
    Command("rollout history deployment/web"),
    Command("rollout history deployment/web --revision=1"),
    Command("wait deployment/web --for=jsonpath={.status.terminatingReplicas}=0 --timeout=60s"),
    Command("logs deployment/web", only="SESSION_"),
    Command("rollout undo deployment/web"),
    Command("rollout status deployment/web --timeout=120s", last=True),
    Command("rollout history deployment/web"),
    Command("rollout pause deployment/web"),
    Command("rollout resume deployment/web"),
    Command("rollout restart deployment/web"),
    Command("rollout status deployment/web --timeout=120s", last=True),
    Command("scale deployment web --replicas=3"),
    Command("wait deployment/web --for=jsonpath={.status.readyReplicas}=3 --timeout=60s"),
    Command("wait deployment/web --for=condition=Available --timeout=60s"),
    Command("scale deployment web --replicas=1 --current-replicas=2"),
    Command("""patch deployment web -p '{"metadata":{"labels":{"by":"strategic"}}}'"""),
    Command("""patch deployment web --type=merge -p '{"metadata":{"labels":{"by":"merge"}}}'"""),
    Command(
        """patch deployment web --type=json -p '[{"op":"replace","path":"/metadata/labels/by","value":"json"}]'"""
    ),
    Command("""patch deployment web --subresource=scale --type=merge -p '{"spec":{"replicas":2}}'"""),
    Command("get deployment web --subresource=scale -o jsonpath={.kind}/{.spec.replicas}"),
    Command("edit configmap settings"),
    Command("get configmap settings -o jsonpath={.data.mode}"),
    Command("set image deployment/web main=busybox:1.36"),
    Command("set env deployment/web --list", only="SESSION_COLOUR"),
    # A budget, and who may be evicted.
    Command("apply -f budget.yaml"),
    Command("wait poddisruptionbudget/web --for=jsonpath={.status.disruptionsAllowed}=1 --timeout=60s"),
    Command("wait poddisruptionbudget/web --for=jsonpath={.status.expectedPods}=2 --timeout=60s"),
    Command("get poddisruptionbudgets"),
    Command("describe poddisruptionbudget web"),
    # Server-side apply, its conflicts, and Kustomize.
    Command("apply --server-side -f settings.yaml"),
    Command("apply --server-side --field-manager=other -f settings-2.yaml"),
    Command("apply --server-side --field-manager=other --force-conflicts -f settings-2.yaml"),
    Command("get configmap shared -o yaml --show-managed-fields"),
    Command("apply -k kustomized"),
    Command("diff -k kustomized"),
    Command("get configmaps -l made-by=kustomize"),
    Command("replace -f settings.yaml"),
    Command("delete -k kustomized"),
    # Jobs that succeed and fail.
    Command("apply -f once.yaml"),
    Command("wait job/once --for=condition=Complete --timeout=60s"),
    Command("get job once"),
    Command("get job once -o yaml"),
    Command("describe job once"),
    Command("logs job/once", only="SESSION_"),
    Command("get pods --selector job-name=once"),
    Command("create -f fails.yaml"),
    Command("wait job/fails --for=condition=Failed --timeout=60s"),
    Command("get job fails"),
    Command("describe job fails"),
    Command("get pods --selector job-name=fails"),
    Command(f"get events --field-selector involvedObject.kind=Job {_EVENTS}"),
    Command("run alone --image=busybox:1.36 --restart=Never --command -- sleep 3600"),
    Command("wait pod/alone --for=condition=Ready --timeout=60s"),
    Command("events --for pod/alone"),
    # A node, as an administrator treats it.
    Command("create -f node.yaml"),
    Command("cordon session-node"),
    Command("cordon session-node"),
    Command("get node session-node -o jsonpath={.spec.unschedulable}"),
    Command("taint node session-node session=here:NoSchedule"),
    Command("taint node session-node session=here:NoSchedule"),
    Command("""get node session-node -o 'jsonpath={.spec.taints[?(@.key=="session")].effect}'"""),
    Command("taint node session-node session-"),
    Command("create -f stranded.yaml"),
    Command("drain session-node --ignore-daemonsets --disable-eviction=false"),
    Command("drain session-node --ignore-daemonsets --force --grace-period=0"),
    Command("get pod stranded"),
    Command("uncordon session-node"),
    Command("delete node session-node"),
    # What a user asks about the server.
    Command("explain pod.spec.containers.imagePullPolicy", only=":  "),
    Command("explain deployment.spec.strategy", only="\t<"),
    Command("explain pod.none"),
    Command("api-resources --api-group=batch"),
    Command("api-resources --api-group=policy -o name"),
    Command("auth can-i create pods"),
    Command("get --raw /readyz"),
    Command("get unicorns"),
    Command("get pods/none deployment/none"),
    Command("top pods"),
    # The ways in which things go.
    Command("delete pod alone --grace-period=0 --force"),
    Command("delete deployment web --cascade=orphan"),
    Command("get replicasets,pods -l app=web -o name"),
    Command("delete replicasets --all --cascade=foreground --timeout=60s"),
    Command("wait pods -l app=web --for=delete --timeout=60s"),
    Command("delete job once fails --wait=true --timeout=60s"),
    Command("delete -f settings.yaml -f budget.yaml --ignore-not-found"),
    Command("delete -f settings.yaml --ignore-not-found"),
    Command("delete -f settings.yaml"),
    Command("get all"),
    Command(f"delete namespace {NAMESPACE} --timeout=60s"),
    Command(f"get namespace {NAMESPACE}"),
)

NOT_SERVED = (
    Command("run lonely --namespace default --image=busybox:1.36"),
    Command("wait pod/lonely --namespace default --for=condition=Ready --timeout=60s"),
    Command("exec lonely --namespace default -- env"),
    Command("attach lonely --namespace default"),
    Command("port-forward lonely --namespace default 8080"),
)
"""What a real cluster does and the embedded one refuses."""
