"""A random model of a few thousand weights, for clients of models in process."""

from pathlib import Path


def write_tiny_model(folder: Path, window: int = 512) -> Path:
    """Write a model with a tokenizer of single characters, and return its folder."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    signs = ["<unk>", "<end>", *map(chr, range(32, 127)), "\n"]
    plain = Tokenizer(models.WordLevel({sign: n for n, sign in enumerate(signs)}, "<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    plain.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain, unk_token="<unk>", eos_token="<end>"
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }} {% endfor %}"
    )
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(signs),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=window,
        eos_token_id=1,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
