"""How one object becomes another: patches, server-side apply, and who owns which field.

Stands for apimachinery's strategic merge patch and structured-merge-diff.
"""
