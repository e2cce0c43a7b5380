"""The parameters of a dense decoder by the rule of thumb, and its sizes from them (F01)."""

from grader.family import Ask, Draw, Family, Menu
from spec import quantities as q
from spec.parameters import parameters_approx

WIDTH_OVER_DEPTH = (40, 200)  # of real decoders, from the smallest to the largest


def of_usual_shape(draw: Draw) -> bool:
    """Keep shapes that somebody might build."""
    low, high = WIDTH_OVER_DEPTH
    return low * draw.values["layers"] <= draw.values["hidden"] <= high * draw.values["layers"]


family = Family(
    asks=Ask(q.parameters_approx, "How many parameters do these matrices hold in all?"),
    inverse=(
        Ask(q.layers, "How many layers does it have if these matrices hold {{ parameters_approx }} in all?"),
        Ask(q.vocab, "How large is its vocabulary if these matrices hold {{ parameters_approx }} in all?"),
        Ask(q.hidden, "What is its hidden size if these matrices hold {{ parameters_approx }} in all?"),
    ),
    by=(parameters_approx,),
    given=Menu(
        layers=(12, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 42, 44, 48, 56, 60, 64, 72, 80, 88, 96, 112, 126),
        hidden=(
            *(768, 896, 1024, 1152, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3584, 4096, 4608),
            *(5120, 5632, 6144, 6656, 7168, 8192, 9216, 10240, 12288, 14336, 16384),
        ),
        vocab=(32_000, 50_257, 65_024, 128_256, 152_064, 256_000),
    ),
    wording="""A decoder has {% if layers is defined %}{{ layers }}{% else %}L layers{% endif %}, hidden size
        {% if hidden is defined %}{{ hidden }}{% else %}H{% endif %} and a vocabulary of
        {% if vocab is defined %}{{ vocab }}{% else %}V{% endif %}. Count only its matrices: in each layer four square
        ones for attention and two feed-forward ones of inner size four times the hidden size, and outside the layers
        an embedding and a separate output head.""",
    objective="parameter-count",
    section="model-weights",
    keep=of_usual_shape,
)
