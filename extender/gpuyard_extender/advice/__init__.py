"""What people ask: why does this pod or group wait, and would these objects fit.

Law: asking changes nothing.
"""
