"""The collector is as it was, however a step ends."""

import gc

import pytest

from normastcu.judging.garbage import no_garbage_collection


@pytest.fixture(params=[True, False])
def was_on(request):
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_the_collector_is_as_it_was_after_an_error(was_on):
    @no_garbage_collection()
    def step():
        assert not gc.isenabled()
        raise ValueError("the step failed")

    for _ in range(2):
        with pytest.raises(ValueError, match="the step failed"):
            step()
        assert gc.isenabled() is was_on
