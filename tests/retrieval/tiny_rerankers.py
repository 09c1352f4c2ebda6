"""Tiny rerankers with random weights and tokenizers of their own, as folders."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

WORDS = (
    *("yes", "no", "Query:", "Document:", "Relevant:", "pagamento", "de", "diárias", "a"),
    *("servidores", "licença", "férias", "concessão", "prazo", "contrato"),
)
LETTERS = "▁abcdefghijklmnopqrstuvwxyzãéíçáDQR:0123456789"
DOCUMENTS = (
    "pagamento de diárias a servidores",
    "licença e férias",
    "contrato com prazo de pagamento",
    "xyz",
)


def save_seq2seq(folder: Path, seed: int = 0) -> Path:
    """Write a T5 of two layers, whose weights are large enough to tell texts apart."""
    torch.manual_seed(seed)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(WORDS) + len(LETTERS) + 3,
            d_model=16,
            d_kv=8,
            d_ff=32,
            num_layers=2,
            num_heads=2,
            initializer_factor=5.0,
            decoder_start_token_id=0,
            pad_token_id=0,
            eos_token_id=1,
        )
    )
    model.save_pretrained(folder)
    _unigram_tokenizer().save_pretrained(folder)
    return folder


def save_cross_encoder(folder: Path, outputs: int = 1, seed: int = 0) -> Path:
    """Write a BERT of two layers with a head for classification."""
    torch.manual_seed(seed)
    tokenizer = _word_tokenizer()
    model = BertForSequenceClassification(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            num_labels=outputs,
            initializer_range=0.5,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _unigram_tokenizer() -> PreTrainedTokenizerFast:
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(f"▁{word}", -2.0) for word in WORDS] + [(letter, -9.0) for letter in LETTERS]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def _word_tokenizer() -> PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: number for number, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )
