"""Simulated servers on the command line: which card, which requests, and what is to be said and shown of a run."""
