"""What is trained: ranks, features against plain formulas, starts, and what the certificates of a layer are about."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from proofcheck import exhaust  # noqa: E402
from proofcheck.errors import FAILS, PROVED, MalformedInput, UsageError  # noqa: E402
from proofcheck.heads import activations as plain  # noqa: E402
from proofcheck.heads import files  # noqa: E402
from proofcheck.heads.tables import table  # noqa: E402
from proofcheck.neural import curriculum, warm  # noqa: E402
from proofcheck.neural.margins import Levels, excess  # noqa: E402
from proofcheck.neural.parametrisations import ACTIVATIONS, LAYER, SHARING, Layer, make  # noqa: E402
from proofcheck.neural.search import search  # noqa: E402
from proofcheck.neural.training import Settings  # noqa: E402

HALF = Fraction(1, 2)
M, HEADS = 3, 4


def drawn(maps, start="normal", seed=0):
    return maps.start(HEADS, torch.Generator().manual_seed(seed), start, 0.3, None).double()


@pytest.mark.parametrize(("r", "inner", "rank"), [(1, 1, 1), (2, 1, 1), (3, 2, 3), (5, 2, 3), (6, 3, 6), (9, 3, 6)])
def test_the_rank_of_squares_is_the_largest_that_is_allowed(r, inner, rank):
    maps = make("square", M, r, LAYER, "cpu")
    assert (maps.inner, maps.rank) == (inner, rank)
    free = drawn(maps)
    queries, keys = maps.features(free)
    assert queries.shape == keys.shape == (HEADS, 1 << M, rank)
    assert torch.allclose(queries @ keys.mT, (free[0] @ free[1].mT).square())
    assert int(torch.linalg.matrix_rank((queries @ keys.mT)[0])) == min(rank, 1 << M)


@pytest.mark.parametrize("sharing", SHARING)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_token_local_features_are_those_of_the_layer(name, activation, sharing):
    """Head by head and token by token, with the activations of the built-in kernels."""
    maps = make(name, M, 2, Layer(activation, sharing, 5), "cpu")
    free = drawn(maps)
    for side, features in zip(maps.sides(free), maps.features(free), strict=True):
        for head in range(HEADS):
            for z in range(1 << M):
                u = np.array([[z >> j & 1 for j in range(M)]], dtype=np.float64)
                (weights, biases), *further = ((w[head].numpy(), b[head].numpy()) for w, b in maps.layers(side))
                u = u @ weights + biases
                for w, b in further:
                    u = np.maximum(u, 0) @ w + b
                assert features[head, z].numpy() == pytest.approx(plain.ACTIVATIONS[activation].apply(u)[0])
    queries, keys = (maps.layers(side)[0][0] for side in maps.sides(free))
    assert {"separate": not torch.equal(queries, keys), "tied": torch.equal(queries, keys)}.get(
        sharing, torch.equal(queries, -keys)
    )


@pytest.mark.parametrize("name", ["bounded", "signed", "square", "linear", "mlp"])
def test_heads_do_not_influence_each_other(name):
    """The gradient of one head's loss vanishes for all others, and dropping heads changes nothing."""
    maps, levels = make(name, M, 3, LAYER, "cpu"), Levels.build(M, 3, HALF, dtype=torch.float64)
    free = drawn(maps, "mixtures").requires_grad_()
    values = excess(*maps.features(free), levels, maps.floor)
    (gradient,) = torch.autograd.grad(values[1].amax(), free)
    assert float(gradient[:, 1].abs().max()) > 0
    assert float(gradient[:, [0, 2, 3]].abs().max()) == 0
    alone = excess(*maps.features(free[:, [1]]), levels, maps.floor)
    assert torch.allclose(alone[0], values[1])


def test_structured_layers_have_positive_preactivations():
    maps = make("linear", M, 2, LAYER, "cpu")
    free = torch.tensor(maps.structured(HEADS, np.random.default_rng(0)).numpy())
    for side in maps.sides(free):
        (weights, biases) = maps.layers(side)[0]
        assert float((maps.bits @ weights + biases).min()) > 0


@pytest.mark.parametrize("name", ["square", "linear", "mlp"])
def test_no_warm_start_without_an_inverse(name):
    with pytest.raises(UsageError, match=f"features {name} are not free"):
        search(3, 3, warm=warm.complements(3), settings=Settings(parametrisation=name))


def test_a_negative_warm_start_needs_signed_features():
    given = tuple(-part for part in warm.complements(3))
    with pytest.raises(UsageError, match="negative features is for features signed"):
        search(3, 3, warm=given)
    assert search(3, 3, warm=given, settings=Settings(parametrisation="signed", polish=20), small=False).head


@pytest.mark.parametrize(
    ("options", "message"),
    [({"activation": "gelu"}, "activation"), ({"sharing": "half"}, "sharing of W"), ({"hidden": 0}, "hidden >= 1")],
)
def test_options_out_of_range(options, message):
    with pytest.raises(UsageError, match=message):
        search(3, 2, settings=Settings(parametrisation="mlp", layer=Layer(**options)))


# ------------------------------------------------------------------------------------------ whole searches


def test_squares_are_found_and_their_rank_is_claimed():
    outcome = search(4, 5, settings=Settings(parametrisation="square", polish=30), small=False)
    assert (outcome.status, outcome.r, outcome.exists.parameters["rank"]) == (PROVED, 3, 3)


@pytest.mark.parametrize(
    ("name", "r", "layer"),
    [
        ("linear", 2, LAYER),
        ("linear", 3, Layer("relu")),
        ("linear", 3, Layer("softplus", "opposed")),
        ("mlp", 2, Layer(hidden=8)),
    ],
)
def test_a_layer_is_found_and_decided_with_its_own_weights(tmp_path, name, r, layer):
    """The file that is written is the layer whose kernel was certified, decided again from that file."""
    outcome = search(4, r, settings=Settings(parametrisation=name, layer=layer), small=False)
    assert (outcome.status, outcome.exists.parameters["rank"]) == (PROVED, r)
    own = outcome.layer
    assert own.certificate.claim == "kernel-correct"
    assert own.certificate.verdict.assumed == []
    for maps in own.maps.values():
        for array in (part for pair in maps for part in pair):
            assert (np.ldexp(array, own.places) == np.rint(np.ldexp(array, own.places))).all()
    read = files.load(own.write(tmp_path / "layer.npz"), 4)
    again = exhaust.decide(read)
    assert again.certificate.parameters == own.certificate.parameters
    if layer.activation == "relu":
        assert max(k.bit_length() for row in own.certificate.parameters["queries"] for k in row) < 20


def test_a_shared_map_that_rises_with_the_overlap_is_refuted():
    """W_K = W_Q and one linear map: every feature of a key that a query asks for grows with the overlap."""
    outcome = search(
        4, 2, restarts=1, heads=2, settings=Settings(steps=40, parametrisation="linear", layer=Layer(sharing="tied"))
    )
    assert outcome.status == FAILS
    assert outcome.attempts[0].refutation.certificate.claim == "kernel-refutation"
    assert outcome.layer is None


# ------------------------------------------------------------------------------------------ curriculum


def saved(tmp_path, m, r):
    outcome = search(m, r, settings=Settings(polish=20), small=False)
    return outcome, outcome.exists.write(tmp_path, "exists"), outcome.correct.write(tmp_path, "correct")


def test_starts_from_certificates_and_files(tmp_path):
    outcome, *paths = saved(tmp_path, 3, 2)
    files.save(table(outcome.head.queries, outcome.head.keys), tmp_path / "head.npz")
    for path in (*paths, tmp_path / "head.npz"):
        queries, keys = curriculum.read(path)
        assert (queries == outcome.head.queries).all()
        assert (keys == outcome.head.keys).all()


def test_starts_of_one_rank_more_and_of_one_bit_less():
    given = warm.complements(4)
    dropped = curriculum.fitted(given, 4, 3, 6)
    assert dropped[0].shape == dropped[1].shape == (6, 16, 3)
    assert (dropped[1][0] == given[1][:, 1:]).all()  # the head that lost feature 0
    assert (dropped[1][4] == dropped[1][0]).all()  # the choices come round again
    assert not (dropped[1][1] == dropped[1][0]).all()
    assert curriculum.fitted(given, 4, 4, 6)[0].shape == (1, 16, 4)
    assert curriculum.fitted(given, 5, 5, 6)[0].shape == (1, 32, 5)
    assert curriculum.fitted(given, 4, 2, 3)[0].shape == (3, 16, 2)
    found = search(4, 2, warm=curriculum.fitted(given, 4, 2, 4), heads=4, settings=Settings(polish=20), small=False)
    assert found.status == PROVED


@pytest.mark.parametrize(("m", "r"), [(4, 5), (6, 4), (3, 2), (5, 3)])
def test_no_step(m, r):
    with pytest.raises(UsageError, match="is no start for"):
        curriculum.fitted(warm.complements(4), m, r, 2)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b'{"claim": "code", "witness": {}}', UsageError, "holds no tables"),
        (b'{"claim": "x", "witness": {"queries": [[1]], "keys": [[1], [2]]}}', MalformedInput, "shapes"),
        (b'{"claim": "x", "witness": {"queries": [["a"]], "keys": [["b"]]}}', MalformedInput, "no tables of numbers"),
        (b'{"claim"', MalformedInput, "warm.json"),
    ],
)
def test_files_that_are_no_start(tmp_path, content, error, message):
    (tmp_path / "warm.json").write_bytes(content)
    with pytest.raises(error, match=message):
        curriculum.read(tmp_path / "warm.json")


def test_a_file_that_does_not_exist(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        curriculum.read(tmp_path / "none.json")
