"""From messages to a reply, with patience."""

from collections.abc import Callable, Sequence
from threading import Event

from normastcu.judging.client import ChatClient, RawReply
from normastcu.judging.requests import Message
from normastcu.judging.settings import ModelSettings
from normastcu.services import failures
from normastcu.services.failures import CallFailure
from normastcu.services.patience import Clock, Patience


class Transport(Patience):
    """Asks one model, see `Patience`.

    Parameters
    ----------
    client
        Makes a single call.
    model, stop, clock
        See `Patience`.
    """

    def __init__(
        self, client: ChatClient, model: ModelSettings, stop: Event, clock: Clock | None = None
    ) -> None:
        super().__init__(model, stop, clock)
        self._client = client

    def ask(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        tokens_estimate: int,
        failed: Callable[[CallFailure, float], None],
    ) -> tuple[RawReply, float]:
        """Call until there is a reply.

        Parameters
        ----------
        messages
            What is sent.
        max_tokens
            Limit of reply tokens.
        tokens_estimate
            Tokens of the messages, for the limit of tokens a minute.
        failed
            Told every failure, and the seconds it took.

        Returns
        -------
        tuple of RawReply and float
            The reply, and the seconds it took.

        Raises
        ------
        CallFailure, Stopped
            See `Patience.call`.
        """
        tokens = tokens_estimate + max_tokens
        reply, seconds = self.call(
            lambda: self._client.complete(messages, max_tokens=max_tokens), failed, tokens
        )
        self.settle(tokens, _used(reply))
        return reply, seconds


def advice(failure: CallFailure, model: ModelSettings) -> str:
    """Return what a failure that does not pass says about the settings, as a sentence."""
    return failures.advice(
        failure,
        model,
        sent="`parameters`, `structured_output` and `max_reply_tokens`",
        where=f"model {model.name!r} of judges.yml",
    )


def _used(reply: RawReply) -> int | None:
    if reply.tokens_in is None or reply.tokens_out is None:
        return None
    return reply.tokens_in + reply.tokens_out
