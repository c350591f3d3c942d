"""Times as they stand in Kubernetes objects: RFC 3339, UTC, whole seconds.

Stands for `k8s.io/apimachinery/pkg/apis/meta/v1.Time`.
"""

import datetime


def rfc3339(now: float) -> str:
    """Seconds since the epoch -> "2026-01-31T12:00:00Z"; a fraction is cut off."""
    return f"{datetime.datetime.fromtimestamp(now, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
