"""The conversation, the turn and the approvals. No front end and no provider has a say in how they work."""
