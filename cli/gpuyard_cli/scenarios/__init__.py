"""Scenarios: read, run step by step against a backend, and compared with what they expect.

Law: a scenario knows no backend.
"""
