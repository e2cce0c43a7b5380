"""A policy for chat sessions as an answer: it is run, measured, and marked by what it achieves."""
