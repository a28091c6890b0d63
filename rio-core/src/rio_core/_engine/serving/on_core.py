"""The ops of `core`."""

from rio_core._engine.serving.handlers import Call, Handlers
from rio_core._engine.version import VERSION
from rio_core.protocol import PROTOCOL
from rio_core.protocol.errors import RioError
from rio_core.protocol.ops import Done, Nothing
from rio_core.protocol.ops.core import HelloParams, HelloResult, ShutdownParams, StatusResult

handlers = Handlers()


@handlers.op("core.hello")
def hello(call: Call, params: HelloParams) -> HelloResult:
    """Greet; give decisions to the first connection that asks."""
    if call.connection.client:
        raise RioError("conflict", "This connection has said hello before.", "Go on with other ops.")
    if params.protocol != PROTOCOL:
        raise RioError(
            "unsupported",
            f"This core speaks protocol {PROTOCOL}, not {params.protocol}.",
            f"Install a front end that matches rio-core {VERSION}.",
        )
    call.connection.greet(params.client or "unnamed")
    core = call.core
    if params.approve and core.owner is None:
        core.owner = call.connection
    core.greeted.set()
    return HelloResult(
        protocol=PROTOCOL,
        version=VERSION,
        instance=core.instance,
        capabilities={"events": True, "agent": True},
        approve=call.connection.decides,
    )


@handlers.op("core.status")
def status(call: Call, params: Nothing) -> StatusResult:
    """Tell what the core is doing."""
    core = call.core
    buffers = core.documents.all()
    return StatusResult(
        version=VERSION,
        instance=core.instance,
        project=core.project.path if core.project else None,
        trusted=bool(core.project and core.project.trusted),
        buffers=len(buffers),
        dirty=sum(buffer.dirty for buffer in buffers),
        plugins="loaded" if core.plugins.loaded.is_set() else "loading",
        provider=core.providers.selected_name(),
        state_folder=str(core.state),
        config_folder=str(core.config),
        notices=core.settings.notices,
    )


@handlers.op("core.shutdown")
def shutdown(call: Call, params: ShutdownParams) -> Done:
    """End the core, but not over unsaved text."""
    unsaved = [buffer for buffer in call.core.documents.all() if buffer.dirty]
    if unsaved and not params.discard:
        names = ", ".join(buffer.path or f"unnamed ({buffer.id})" for buffer in unsaved[:5])
        raise RioError(
            "dirty",
            f"{len(unsaved)} buffers hold unsaved text: {names}{' and more' if len(unsaved) > 5 else ''}.",
            "Save them, or shut down with `discard`.",
        )
    call.core.stop()
    return Done()
