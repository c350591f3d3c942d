"""Label and field selectors.

Stands for apimachinery's labels and fields packages.
"""
