"""Whether all who keep account of devices say the same.

`accounts` and `evidence` are what is looked at, `findings` what is found, `audit` how.
"""
