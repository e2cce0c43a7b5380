"""What is true: the laws of serving transformers, exact and executable."""
