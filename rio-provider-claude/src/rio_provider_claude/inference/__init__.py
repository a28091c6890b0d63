"""The Messages API: requests, streams, failures, models. Knows nothing of credentials."""
