"""The laws as a test suite for other people's implementations, in any language.

`pytest --pyargs spec.conformance --candidate my_module`, `grade check my_module`, or `spec.conformance.suite.check`.
"""
