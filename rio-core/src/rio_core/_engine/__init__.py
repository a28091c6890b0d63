"""The private inside of the core: documents, workspace, agent, plugins, settings, secrets, serving."""
