"""What differs from run to run and from cluster to cluster is masked; what is left must be the same.

Masked: ages, times, uids, versions, generated names, addresses, nodes, ids of images and containers, column widths.
"""

import re

_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]"
_RULES = (
    # Times before numbers, uids before hashes.
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r"\d+\.\d+\.\d+\.\d+(/\d+)?", "ADDRESS"),
    (rf"\b(web)-{_SUFFIX}{{6,10}}-{_SUFFIX}{{5}}\b", r"\1-HASH-POD"),
    (rf"\b(web)-{_SUFFIX}{{6,10}}\b", r"\1-HASH"),
    (rf"\b(once-\d|once|fails)-{_SUFFIX}{{5}}\b", r"\1-POD"),
    (rf"(pod-template-hash[\"=: ]+){_SUFFIX}+", r"\1HASH"),
    (r"(resourceVersion\"?: )\"\d+\"", r"\1VERSION"),
    (r"(?m)(^| |\()(?<!cpu: )(\d+d)?(\d+h)?(\d+m)?(\d+s)?(?<=[dhms])( ago)?(?=$| |\))", r"\1AGE"),
    (r"AGE \(x\d+ over AGE\)", "AGE"),
    (r"(containerd|gpuyard|docker.io|busybox)://\S+", "CONTAINER"),
    (r"(imageID|Image ID)(\"?: +).*", r"\1\2IMAGE"),
    (r"\b(node-\d|[\w-]+-worker\d*)\b", "NODE"),
    (r"/tmp/(LIVE|MERGED)-\d+", r"/tmp/\1"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}", "TIME"),
    # Of a container's user, and of the pod as a whole, kubelets say more than is simulated.
    (r"(?m)^( +)user:\n(?:\1 .*\n)+", ""),
    (r"(?m)^    (allocatedResources|resources):\n(?:     .*\n)+", ""),
    (r"(?m)^ +lastProbeTime: null\n", ""),
    (r"(?m)^( +)- lastProbeTime: null\n +", r"\1- "),
    (r"\b(docker\.io/library/)?busybox(:1\.36|@sha256:[0-9a-f]+)", "IMAGE"),
)


def masked(text: str) -> str:
    """The text with everything masked that may differ, every run of spaces within a line one space."""
    for pattern, replacement in _RULES:
        text = re.sub(pattern, replacement, text)
    lines = [_narrow(line) for line in text.splitlines()]
    return "\n".join(line for line in lines if line)


def _narrow(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + re.sub(r"[ \t]+", " ", line.strip())
