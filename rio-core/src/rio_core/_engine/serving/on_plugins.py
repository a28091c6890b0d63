"""The ops of `plugin`, `provider`, `settings` and `secret`."""

from rio_core._engine.serving.handlers import Call, Handlers
from rio_core.protocol.ops import Done, Nothing
from rio_core.protocol.ops import plugins as ops

handlers = Handlers()


@handlers.op("plugin.list")
def plugin_list(call: Call, params: Nothing) -> ops.ListResult:
    """List every installed plugin with its status."""
    return ops.ListResult(plugins=call.core.plugins.list())


@handlers.op("plugin.enable")
def plugin_enable(call: Call, params: ops.PluginParams) -> Done:
    """Load a plugin from the next start on."""
    call.core.plugins.enable(params.name)
    return Done()


@handlers.op("plugin.disable")
def plugin_disable(call: Call, params: ops.PluginParams) -> Done:
    """Do not import a plugin from the next start on."""
    call.core.plugins.disable(params.name)
    return Done()


@handlers.op("provider.list")
def provider_list(call: Call, params: Nothing) -> ops.ProvidersResult:
    """List the providers and how they are set up."""
    return ops.ProvidersResult(providers=call.core.providers.list())


@handlers.op("provider.select")
async def provider_select(call: Call, params: ops.SelectParams) -> Done:
    """Use another provider or model from the next turn on."""
    await call.core.plugins.loaded.wait()
    call.core.providers.select(params.name, params.model)
    return Done()


@handlers.op("provider.models")
async def provider_models(call: Call, params: ops.ModelsParams) -> ops.ModelsResult:
    """Ask a provider for its models."""
    await call.core.plugins.loaded.wait()
    return ops.ModelsResult(models=await call.core.providers.models(params.name))


@handlers.op("settings.get")
def settings_get(call: Call, params: ops.GetParams) -> ops.SettingsResult:
    """Give the value of one setting, or of all."""
    return ops.SettingsResult(values=call.core.settings.values(params.key))


@handlers.op("settings.set")
def settings_set(call: Call, params: ops.SetParams) -> Done:
    """Change a setting."""
    call.core.settings.set(params.key, params.value)
    return Done()


@handlers.op("settings.schema")
def settings_schema(call: Call, params: Nothing) -> ops.SchemaResult:
    """List what can be set."""
    return ops.SchemaResult(settings=call.core.settings.schema())


@handlers.op("secret.set")
def secret_set(call: Call, params: ops.SecretSetParams) -> ops.SecretResult:
    """Store a secret."""
    call.core.secrets.set(params.provider, params.name, params.value)
    return ops.SecretResult(status=call.core.secrets.status(params.provider, params.name))


@handlers.op("secret.clear")
def secret_clear(call: Call, params: ops.SecretParams) -> ops.SecretResult:
    """Forget a secret."""
    call.core.secrets.clear(params.provider, params.name)
    return ops.SecretResult(status=call.core.secrets.status(params.provider, params.name))


@handlers.op("secret.status")
def secret_status(call: Call, params: ops.SecretParams) -> ops.SecretResult:
    """Tell whether a secret is there."""
    return ops.SecretResult(status=call.core.secrets.status(params.provider, params.name))
