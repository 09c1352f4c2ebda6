"""The client of a Hugging Face model that runs in this process."""

from collections.abc import Mapping, Sequence
from threading import Event, Lock
from typing import Any

from normastcu.judging.client import RawReply
from normastcu.judging.errors import JudgingError
from normastcu.judging.requests import Message
from normastcu.judging.settings import ModelSettings
from normastcu.services.failures import CallFailure


class HuggingFaceClient:
    """A model that runs in this process through `transformers`, one call at a time.

    The model's parameters go to ``generate``; without a temperature above 0 the reply is greedy,
    so that it can be repeated.

    Parameters
    ----------
    model
        `ModelSettings.model` is an id of the Hugging Face hub or a folder.
    """

    def __init__(self, model: ModelSettings) -> None:
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise JudgingError(
                f"The model {model.name!r} runs in this process and needs torch and transformers, "
                'which are not installed: pip install "normastcu[retrieval]".'
            ) from error
        self._settings = model
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model.model)
            weights: Any = AutoModelForCausalLM.from_pretrained(model.model)
            self._model = weights.to(self._device).eval()
        except Exception as error:
            raise JudgingError(
                f"The model {model.name!r} can't be loaded from {model.model!r} "
                f"({type(error).__name__}). Check `model` in judges.yml: an id of the Hugging Face "
                "hub (and the network), or a folder that holds a model and its tokenizer; the "
                "memory must hold it."
            ) from error
        self._sampling = _sampling(model.parameters)
        self._closed = Event()
        self._one_at_a_time = Lock()

    def complete(self, messages: Sequence[Message], *, max_tokens: int) -> RawReply:
        """Make one call with a limit of reply tokens.

        Raises
        ------
        CallFailure
            The messages do not fit, the time or the memory was over, or the model can't take its
            parameters or the messages.
        """
        try:
            return self._reply(messages, max_tokens)
        except CallFailure:
            raise
        except Exception as error:
            failure = _failure(error)
        # Raised here and not above, because the text of the error may quote the messages.
        raise failure

    def close(self) -> None:
        """End the call under way after its present token."""
        self._closed.set()

    def _reply(self, messages: Sequence[Message], max_tokens: int) -> RawReply:
        with self._one_at_a_time:
            prompt = self._encoded(messages)
            shown = int(prompt["input_ids"].shape[1])
            if shown + max_tokens > self._window():
                raise CallFailure("context_length")
            tokens = self._generated(prompt, max_tokens)[shown:]
        finish_reason = self._finish_reason(tokens, max_tokens)
        return RawReply(
            content=self._tokenizer.decode(tokens, skip_special_tokens=True),
            finish_reason=finish_reason,
            tokens_in=shown,
            tokens_out=len(tokens),
            model=self._settings.model,
        )

    def _encoded(self, messages: Sequence[Message]) -> Any:
        if self._tokenizer.chat_template:
            encoded = self._tokenizer.apply_chat_template(
                list(messages), add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
        else:
            text = "\n\n".join(message["content"] for message in messages)
            encoded = self._tokenizer(text, return_tensors="pt")
        return encoded.to(self._device)

    def _window(self) -> int:
        own = getattr(self._model.config, "max_position_embeddings", None)
        return min(self._settings.context_window, own or self._settings.context_window)

    def _generated(self, prompt: Any, max_tokens: int) -> list[int]:
        import torch

        def ended(ids: Any, *_: Any, **__: Any) -> Any:
            return torch.full((ids.shape[0],), self._closed.is_set(), device=ids.device)

        with torch.inference_mode():
            generated = self._model.generate(
                input_ids=prompt["input_ids"],
                attention_mask=prompt["attention_mask"],
                max_new_tokens=max_tokens,
                max_time=self._settings.timeout_s,
                stopping_criteria=[ended],
                pad_token_id=self._tokenizer.eos_token_id,
                **self._sampling,
            )
        return [int(token) for token in generated[0]]

    def _finish_reason(self, tokens: Sequence[int], max_tokens: int) -> str:
        ends = self._model.generation_config.eos_token_id
        if tokens and tokens[-1] in (ends if isinstance(ends, list) else [ends]):
            return "stop"
        if len(tokens) < max_tokens:
            raise CallFailure("timeout")
        return "length"


def _failure(error: Exception) -> CallFailure:
    import torch

    no_memory = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return CallFailure("unavailable" if no_memory else "rejected", cause=type(error).__name__)


def _sampling(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if parameters.get("temperature"):
        return {"do_sample": True, **parameters}
    return {
        "do_sample": False,
        **{name: value for name, value in parameters.items() if name != "temperature"},
    }
