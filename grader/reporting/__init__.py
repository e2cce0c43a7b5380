"""What the rows of a ledger say: reports on a class, marks given again, and everything that is kept of one student."""
