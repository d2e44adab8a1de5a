"""What is generated from the contract of the typed API."""
