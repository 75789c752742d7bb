"""Programs: models of Hugging Face's transformers, tiny and with random weights."""

from __future__ import annotations

from typing import Any

import torch

from .programs import made

FAMILY = "Hugging Face"
TINY: Any = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 32,
}


def words() -> tuple[Any, ...]:
    return (torch.ones(1, 8, dtype=torch.int64),)


def add() -> None:
    """Puts the models into the list: only where transformers is installed."""
    from transformers import (
        BertConfig,
        BertModel,
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
    )

    @made(FAMILY, words)
    def bert() -> Any:
        return BertModel(BertConfig(**TINY)).eval()

    @made(FAMILY, words)
    def gpt2() -> Any:
        return GPT2LMHeadModel(GPT2Config(**TINY)).eval()

    @made(FAMILY, words)
    def llama() -> Any:
        return LlamaForCausalLM(LlamaConfig(**TINY, use_cache=False)).eval()


try:
    import transformers  # noqa: F401
except ImportError:
    pass
else:
    add()
