"""What is asked: one file is one family of exercises."""
