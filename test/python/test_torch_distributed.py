# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid.torch in several processes over gloo: shards draw the whole's masks, and training split in each way gives the losses
# and weights of one process: bit for bit where the order of sums is the same, else within 1e-6.

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("needs a PyTorch with torch.distributed over gloo", allow_module_level=True)
import distributed_training as training  # noqa: E402
import resid.torch as rt  # noqa: E402
from resid.torch import distributed  # noqa: E402

WHOLE = (3, 8, 4, 32)
SHARDS = {"batch": ((2, 8, 4, 32), (1, 0, 0, 0)), "heads": ((3, 2, 4, 32), (0, 4, 0, 0)),
          "positions": ((3, 8, 2, 32), (0, 0, 2, 0)), "features": ((3, 8, 4, 16), (0, 0, 0, 16)),
          "all of these": ((1, 4, 4, 8), (2, 4, 0, 24)), "whole": (WHOLE, (0, 0, 0, 0))}


def cut(x, local, offset):
    return x[tuple(slice(start, start + size) for start, size in zip(offset, local))]


@pytest.mark.parametrize("name", SHARDS)
def test_masks_of_shards_are_those_of_the_whole(name):
    local, offset = SHARDS[name]
    state = torch.tensor([5, 6])
    x, f = torch.randn(2, *WHOLE)
    shard = torch.cat([state, torch.tensor(distributed.origin_of(local, offset, WHOLE))])
    f_shard = cut(f, local, offset).clone().requires_grad_()
    assert torch.equal(rt.dropout(f_shard, shard, 0.5, site=3), cut(rt.dropout(f, state, 0.5, site=3), local, offset))
    got = rt.dropout_add(cut(x, local, offset), f_shard, state=shard, p=0.5, site=3)
    f.requires_grad_()
    wanted = rt.dropout_add(x, f, state=state, p=0.5, site=3)
    assert torch.equal(got, cut(wanted, local, offset))
    gradients = [torch.autograd.grad(y.sum(), leaf)[0] for y, leaf in ((got, f_shard), (wanted, f))]
    assert torch.equal(gradients[0], cut(gradients[1], local, offset))


@pytest.mark.parametrize("local,offset,whole,message", [
    ((2, 4), (0, 4), (2, 8), "multiples of 8 but got a shard that begins at 4"),
    ((1, 2, 2, 8), (0, 2, 2, 0), (1, 4, 4, 8), "at most one split dimension beside the first and the last"),
    ((2, 8), (0,), (2, 8), "of one rank")])
def test_what_is_no_shard_is_refused(local, offset, whole, message):
    with pytest.raises(ValueError, match=message):
        distributed.origin_of(local, offset, whole)


def test_a_state_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"int64\[6\], of a shard, .*but got \[3\]"):
        rt.dropout(torch.ones(2, 8), torch.tensor([1, 2, 3]), 0.5)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return training.start(tmp_path_factory.mktemp("ranks"))


@pytest.fixture(scope="module")
def alone():
    return training.train_alone()


@pytest.fixture(scope="module", params=training.RANKS)
def trained(request, results, alone):
    """What each way gave with so many processes, beside one process with as many micro-batches, and with one."""
    return request.param, results[request.param], training.train_alone(request.param), alone


def difference(a, b):
    """The largest difference of losses and of weights."""
    weights = max((a["weights"][name] - value).abs().max() for name, value in b["weights"].items())
    return max((a["losses"] - b["losses"]).abs().max(), weights).item()


def test_training_depends_on_the_masks(alone):
    assert (alone["losses"][0] - alone["losses"][-1]).abs() > 0.05
    x, _ = training.draw(0)
    model = training.Transformer()
    first = model(x)
    assert (first - model(x)).abs().max() > 0.1  # Another step, another mask.


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_data_parallel(trained, way):
    ranks, results, parts, alone = trained
    if ranks == 2:
        # a + b is b + a, so the sum of two gradients has one order.
        assert difference(results[way], parts) == 0.0
    assert difference(results[way], parts) <= 1e-6
    assert difference(results[way], alone) <= 1e-6


@pytest.mark.parametrize("way", ["tensor", "sequence"])
def test_model_parallel(trained, way):
    _, results, _, alone = trained
    assert difference(results[way], alone) <= 1e-6


def test_sharding_rules(trained):
    """Norms and adds of DTensors stay split by rows; gradients of parameters are sums of the parts."""
    assert trained[1]["rules"] == [1, 1, 1, 1, 1]


def test_reduce_scatter_add_norm(trained):
    """y, the sum and the gradient of a rank's part have the bits of one process, and there are dropped elements."""
    assert trained[1]["masks"] == [1] * 7
