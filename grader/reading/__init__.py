"""The answer reader: from what was typed to an exact value, a formula or labels, or a complaint that says where."""
