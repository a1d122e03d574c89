"""The losses of a batch are those of mbauc.losses, and so are their gradients."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc.losses import LOSSES, Logistic, PairObjective, PairWeights, Region, get_loss
from strategies import scored_rows

torch = pytest.importorskip("torch", reason="PyTorch is not here: pip install 'mbauc[torch]'")
from mbauc.objectives.torch import PairwiseAUCLoss, pairwise_auc_loss  # noqa: E402
from mbauc.objectives.torch import loss as loss_module  # noqa: E402
from mbauc.objectives.torch.batch_pairs import BatchPairs  # noqa: E402
from mbauc.objectives.torch.device import logistic, on_device  # noqa: E402

names = pytest.mark.parametrize("name", list(LOSSES))


@pytest.fixture(params=["processor", "device"], autouse=True)
def place(request, monkeypatch):
    """Once by compiled loops, once as on a GPU."""
    if request.param == "device":
        monkeypatch.setattr(loss_module, "on_processor", on_device)
    return request.param


def tensors(*values):
    return [None if one is None else torch.tensor(one) for one in values]


def value_and_gradient(scores, y, weight, groups, **settings):
    s = torch.tensor(scores, requires_grad=True)
    value = pairwise_auc_loss(s, *tensors(y, weight, groups), **settings)
    value.backward()
    return value.item(), s.grad.numpy()


def agree(actual, desired):
    np.testing.assert_allclose(actual, desired, rtol=1e-8, atol=1e-10 * np.abs(desired).max())


@names
@given(
    rows=scored_rows(),
    equal_groups=st.booleans(),
    region=st.sampled_from([{}, {"max_fpr": 0.3}, {"max_fpr": 0.6, "min_tpr": 0.4}]),
)
def test_value_and_gradient_equal_the_double_loop(name, rows, equal_groups, region):
    positive, scores, weight, groups = rows
    scores, equal_groups = np.clip(scores, -8, 8), equal_groups and groups is not None
    pairs = reference.weighted_pairs(positive, weight, groups, equal_groups)
    value, gradient, _ = reference.pair_loss(
        name, reference.region_pairs(pairs, scores, groups=groups, **region), scores
    )
    found = value_and_gradient(scores, positive, weight, groups, loss=name, equal_groups=equal_groups, **region)
    assert found[0] == pytest.approx(value, rel=1e-8, abs=1e-10)
    scale = max(np.abs(gradient).max(), value)
    np.testing.assert_allclose(found[1], gradient, rtol=1e-8, atol=1e-9 * scale + 1e-14)


@names
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("region", [{}, {"max_fpr": 0.1, "min_tpr": 0.3}])
def test_many_rows_with_an_offset_equal_the_losses_of_arrays(name, grouped, region, rng):
    y, weight = rng.random(3000) < 0.2, rng.random(3000)
    scores = rng.standard_normal(3000) + y
    groups = rng.integers(0, 40, 3000) if grouped else None
    rows = PairWeights.build(y, weight, groups, equal_groups=grouped)
    around = PairObjective(get_loss(name), rows, Region(**region)).expand(scores)
    value, gradient = value_and_gradient(
        scores + 1e4, y, weight, groups, loss=name, equal_groups=grouped, **region
    )
    assert value == pytest.approx(around.value, rel=1e-8)
    np.testing.assert_allclose(gradient, around.gradient, rtol=1e-6, atol=1e-9)


@names
@pytest.mark.parametrize("region", [{}, {"max_fpr": 0.5}])
def test_gradcheck(name, region, rng):
    y, weight, groups = tensors(np.arange(24) % 3 == 0, rng.random(24), np.arange(24) % 2)
    scores = torch.tensor(rng.standard_normal(24), requires_grad=True)

    def loss(s):
        return pairwise_auc_loss(s, y, weight, groups, loss=name, **region)

    assert torch.autograd.gradcheck(loss, scores, eps=1e-5, atol=1e-6)


@pytest.mark.parametrize("block", [1, 50, 1 << 20])
@pytest.mark.parametrize("grouped", [False, True])
def test_pairs_a_few_at_a_time_as_on_other_devices(block, grouped, rng):
    y, weight, scores = rng.random(60) < 0.3, rng.random(60), rng.standard_normal(60)
    groups = rng.integers(0, 3, 60) if grouped else None
    around = Logistic().expand(PairWeights.build(y, weight, groups), scores)
    s = torch.tensor(scores, requires_grad=True)
    y_, w_, g_ = tensors(y, weight, groups)
    value = logistic(Logistic(), BatchPairs.build(y_, w_, g_, equal_groups=False), s, block=block)
    (3.0 * value).backward()
    assert value.item() == pytest.approx(around.value)
    np.testing.assert_allclose(s.grad.numpy(), 3.0 * around.gradient, rtol=1e-8, atol=1e-12)


@names
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_types_of_scores(name, dtype, rng):
    y, scores = torch.tensor(np.arange(50) % 2), torch.tensor(rng.standard_normal((50, 1)), dtype=dtype)
    scores.requires_grad_()
    value = pairwise_auc_loss(scores, y[:, None].float(), loss=name)
    value.backward()
    assert value.dtype == torch.float32
    assert (scores.grad.dtype, scores.grad.shape) == (dtype, scores.shape)
    exact = pairwise_auc_loss(scores.detach().double(), y, loss=name)
    assert value.item() == pytest.approx(exact.item(), rel=1e-6)


@names
def test_a_batch_without_a_pair_has_no_gradient(name):
    scores = torch.randn(5, requires_grad=True)
    for y, weight, groups in [
        (torch.ones(5), None, None),
        (torch.tensor([0, 0, 1, 1, 1]), torch.tensor([0.0, 0.0, 1, 1, 1]), None),
        (torch.tensor([0, 0, 1, 1, 1]), None, torch.tensor([0, 0, 1, 1, 1])),
    ]:
        value = pairwise_auc_loss(scores, y, weight, groups, loss=name)
        assert value.item() == 0.0
        assert not torch.autograd.grad(value, scores)[0].any()


def test_an_error_is_not_taken_for_a_batch_without_a_pair(place, monkeypatch):
    if place == "device":
        pytest.skip("pairs are built by the processor alone")

    def fail(*_, **__):
        raise ValueError("something else")

    monkeypatch.setattr(PairWeights, "build", fail)
    with pytest.raises(ValueError, match="something else"):
        pairwise_auc_loss(*tensors([0.0, 1.0], [0, 1]))


@names
def test_scores_that_are_not_finite_give_nan(name):
    scores = torch.tensor([0.0, float("inf"), float("nan")], requires_grad=True)
    value = pairwise_auc_loss(scores, torch.tensor([0, 1, 1]), loss=name)
    value.backward()
    assert value.isnan()
    assert scores.grad.isnan().all()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scores": [0.0, 1.0]}, "scores must be a torch.Tensor, got list"),
        ({"scores": torch.zeros(2, 2)}, r"got \(2, 2\)"),
        ({"scores": torch.zeros(2, dtype=torch.int64)}, "floating point"),
        ({"y": torch.tensor([1, 2])}, "got 2"),
        ({"y": torch.tensor([1, 0, 0])}, "y has 3 rows, scores have 2"),
        ({"sample_weight": torch.tensor([1.0, -1.0])}, "not negative"),
        ({"groups": torch.tensor([0.5, 1.0])}, "whole numbers"),
        ({"equal_groups": True}, "needs groups"),
        ({"max_fpr": 2.0}, "max_fpr must be"),
        ({"loss": "bce"}, "loss must be one of"),
    ],
)
def test_arguments_that_make_no_sense(change, reason):
    arguments = {"scores": torch.zeros(2), "y": torch.tensor([0, 1])} | change
    with pytest.raises((TypeError, ValueError), match=reason):
        pairwise_auc_loss(**arguments)


def test_a_network_learns_to_rank(rng):
    X = torch.tensor(rng.standard_normal((600, 2)), dtype=torch.float32)
    y = X[:, 0] * X[:, 1] > 0.5
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    criterion = PairwiseAUCLoss("logistic")
    optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        value = criterion(network(X), y)
        value.backward()
        optimizer.step()
    assert reference.auc(y.numpy(), network(X).detach().numpy()[:, 0]) > 0.95
    assert pickle_round_trip(criterion)(network(X), y).item() == criterion(network(X), y).item()


def pickle_round_trip(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=False)
