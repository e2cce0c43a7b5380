"""An executable specification of how transformers serve requests."""
