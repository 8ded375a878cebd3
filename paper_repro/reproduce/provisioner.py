"""Kernels forked from the template, for whatever starts kernels by jupyter_client: papermill, nbval, nbclient.

``JUPYTER_DEFAULT_PROVISIONER_NAME=forked`` chooses it. Not for JupyterLab: the template keeps the modules it imported, so that a
restarted kernel would not see them edited.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from paper_repro.reproduce.forking import template

__all__ = ["ForkedProvisioner"]


class ForkedProvisioner(LocalProvisioner):
    """Forks a kernel of this environment's Python from the template, and starts any other as usual."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start the kernel that a command names."""
        source = template() if cmd[:2] == [sys.executable, "-m"] else None
        folder = os.fspath(kwargs.get("cwd") or os.getcwd())
        with open(os.devnull, "rb") as nothing:
            streams = [nothing.fileno()]
            for standard, name in enumerate(("stdout", "stderr"), 1):
                streams.append(standard if kwargs.get(name) is None else kwargs[name].fileno())
            process = source and source.fork(cmd[2], cmd[3:], kwargs["env"], folder, streams)
        if not process:
            return await super().launch_kernel(cmd, **kwargs)
        self.process = process  # type: ignore[assignment]  # a Popen in all that is asked of it
        self.pid, self.cwd = process.pid, folder
        return self.connection_info
