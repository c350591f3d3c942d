"""The embedded extender over HTTP, with the live yard as its page."""

from gpuyard_cluster.listening import Guest, listen
from gpuyard_cluster.wiring.parts import Options
from gpuyard_extender.service import Extender
from gpuyard_extender.web.app import create_app
from gpuyard_extender.web.ui.routes import Page
from gpuyard_kube.api import Api
from gpuyard_kube.runtime import Runtime


class ExtenderServer:
    """Serves at `url` until it is closed."""

    def __init__(self, guest: Guest, page: Page) -> None:
        self.url, self._guest, self._page = guest.url, guest, page

    @classmethod
    async def start(
        cls, extender: Extender, runtime: Runtime, api: Api, options: Options
    ) -> "ExtenderServer":
        """The page's buttons, where the options have any, write as the user of `api`."""
        page = Page(extender, runtime, options.controls(api) if options.controls else None)
        return cls(await listen(create_app(extender, page=page), "extender"), page)

    async def close(self) -> None:
        await self._page.close()
        await self._guest.close()
