"""Puts a pod on its node, and the members of a gang together or not at all.

Stands for the binding cycle: Reserve, Permit and Bind.
"""
