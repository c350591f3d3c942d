"""What scenarios run on: single steps, the embedded cluster, a real one.

Law: a backend knows no scenario; they meet in `scenarios.backends.Backend`.
"""
