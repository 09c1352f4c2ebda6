"""A BERT of a few thousand random weights that sentence-transformers loads."""

from pathlib import Path

WORDS = (
    *("a", "o", "de", "que", "prazo", "diária", "férias", "servidor", "norma", "tribunal"),
    *("licença", "query", "passage", ":"),
)
LONGEST = 16


def make_tiny_bert(folder: Path, seed: int = 7) -> Path:
    """Write model and tokenizer of single words (and letters) to a folder."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys([*WORDS, *letters])]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    plain = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    plain.normalizer = normalizers.Lowercase()
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    plain.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=LONGEST,
    )
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=LONGEST,
        initializer_range=0.5,
    )
    bare = folder / "bare"
    BertModel(config).save_pretrained(bare)
    tokenizer.save_pretrained(bare)
    transformer = Transformer(str(bare), max_seq_length=LONGEST)
    whole = SentenceTransformer(modules=[transformer, Pooling(16)])
    whole.save(str(folder / "tiny"))
    return folder / "tiny"
