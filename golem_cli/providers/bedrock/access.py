"""Where Bedrock is, and who asks: its region and endpoint, and requests signed with AWS credentials.

Source: AWS SDKs and Tools reference guide (region, profile, credential providers); Bedrock user guide, "Use
an Amazon Bedrock API key" (`AWS_BEARER_TOKEN_BEDROCK`, sent as a bearer); AWS IAM user guide, "Signature
Version 4", which botocore makes. botocore looks for credentials where every AWS tool does: the environment,
the profile, single sign-on, a role, the machine itself.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from golem_cli.core.errors import ConfigurationError
from golem_cli.providers.addresses import checked_key
from golem_cli.providers.server import Pass
from golem_cli.providers.wire.fields import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.session import Session

KNOWN_BY: Final = ("AWS_PROFILE", "AWS_ACCESS_KEY_ID")
"""Variables that say, beside a key of Bedrock's own, who asks. There are other ways, which take time."""

_SERVICE: Final = "bedrock-runtime"
_SIGNED_FOR: Final = "bedrock"
_JSON: Final = {"Content-Type": "application/json"}


def check_installed() -> None:
    """Raise `ConfigurationError` when botocore is missing."""
    if find_spec("botocore") is None:
        raise ConfigurationError(
            "Bedrock needs the package botocore: install it with `pip install 'golem-cli[bedrock]'`"
        )


class Access:
    """Access to Bedrock in a region, the environment's or the profile's unless one is given.

    With an `api_key` requests carry it and are not signed. `base_url` is another address than the region's.
    Raises `ConfigurationError` when botocore, the region or the profile is missing.
    """

    def __init__(self, *, region: str = "", base_url: str = "", api_key: str = "") -> None:
        check_installed()
        from botocore.session import Session

        self._api_key = checked_key(api_key)
        self._session = Session()
        with _aws_faults():
            self.region = region or os.environ.get("AWS_REGION") or _region_of(self._session)
            if not self.region and not (base_url and self._api_key):
                raise ConfigurationError("Bedrock is where? set AWS_REGION to a region, such as eu-central-1")
            self.base_url = base_url or _endpoint(self._session, self.region)

    async def admit(self, url: str, body: bytes) -> Pass:
        """What a request to `url` with that `body` needs. Finding or renewing credentials may take time."""
        if self._api_key:
            return Pass(_JSON | {"Authorization": f"Bearer {self._api_key}"}, self._api_key)
        import asyncio

        return await asyncio.to_thread(self._signed, url, body)

    def _signed(self, url: str, body: bytes) -> Pass:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        with _aws_faults():
            credentials = self._session.get_credentials()
            if credentials is None:
                raise ConfigurationError(
                    "Bedrock needs credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_PROFILE, or "
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                )
            frozen = credentials.get_frozen_credentials()
            request = AWSRequest(method="POST", url=url, data=body, headers=_JSON)
            SigV4Auth(frozen, _SIGNED_FOR, self.region).add_auth(request)
        return Pass(dict(request.headers.items()), frozen.token or "")


@contextmanager
def _aws_faults() -> Iterator[None]:
    """A block whose faults in botocore become `ConfigurationError`s of one line."""
    from botocore.exceptions import BotoCoreError

    try:
        yield
    except BotoCoreError as error:
        raise ConfigurationError(f"the AWS configuration cannot be used: {one_line(str(error))}") from error


def _region_of(session: Session) -> str:
    return str(session.get_config_variable("region") or "")


def _endpoint(session: Session, region: str) -> str:
    """The region's address, as botocore knows it: a profile may name another, China has its own domain."""
    return str(session.create_client(_SERVICE, region_name=region).meta.endpoint_url)
