"""Which of several extenders answers, how callers find it, and what it takes over from the one before.

Stands for leader election in a Kubernetes component.
"""
