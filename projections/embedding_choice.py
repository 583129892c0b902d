"""Which embedder a name stands for. The one place that knows all adapters."""

from __future__ import annotations

import logging
from typing import Final

from taishi.ingest.errors import ConfigurationError

from .embedding import Embedder
from .embedding_hashed import HashedEmbedder
from .embedding_local import LocalEmbedder
from .embedding_openai import OpenAIEmbedder

_LOG: Final = logging.getLogger(__name__)


def make_embedder(
    name: str,
    *,
    base_url: str | None = None,
    model: str | None = None,
    dimension: int | None = None,
    api_key: str | None = None,
) -> Embedder | None:
    """`local` (the hashed one where the extra is absent, with a warning), `hashed`, `openai`, or `off` for None.

    The embedder's `id` tells which it is. Raises ConfigurationError on another name and on an incomplete `openai`.
    """
    if name == "off":
        return None
    if name == "hashed":
        return HashedEmbedder()
    if name == "local":
        try:
            return LocalEmbedder()
        except ConfigurationError as e:
            _LOG.warning("%s; going on with the hashed embedder, which knows no meaning", e.message)
            return HashedEmbedder()
    if name == "openai":
        if base_url is None or model is None or dimension is None:
            raise ConfigurationError("the openai embedder needs a base URL, a model and the model's dimension")
        return OpenAIEmbedder(base_url=base_url, model=model, dimension=dimension, api_key=api_key)
    raise ConfigurationError(f"no embedder is called {name[:40]!r}: local, hashed, openai or off")
