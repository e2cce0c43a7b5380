"""The fields of a config.json: each checked when it is read, and remembered with where its value came from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWN = 60
# Far above any model, and small enough that no sum of products of counts gets slow.
TOO_MANY = 10**18
FULL, SLIDING = "full_attention", "sliding_attention"

# Fields that change a model's shape. One of them that is set, and that its architecture did not ask for, means that
# the file describes something else than the architecture it names.
STRUCTURAL = (
    "add_cross_attention", "attention_bias", "attention_chunk_size", "block_configs", "cross_attention_layers",
    "first_k_dense_replace", "full_attention_interval", "global_head_dim", "hidden_size_per_layer_input",
    "hybrid_layer_pattern", "hybrid_override_pattern", "index_topk", "interleave_moe_layer_step", "is_encoder_decoder",
    "kv_lora_rank", "layer_types", "linear_num_key_heads", "mamba_num_heads", "mlp_bias", "n_routed_experts",
    "n_shared_experts", "num_experts", "num_kv_shared_layers", "num_local_experts", "q_lora_rank", "qk_layernorm",
    "qk_norm", "shared_expert_intermediate_size", "sliding_window", "use_bidirectional_attention",
    "use_qk_norm", "v_head_dim",
)  # fmt: skip

Value = TypeVar("Value")


class UnusableConfig(ValueError):
    """A config.json does not give a model; `file` is its name."""

    file: str


class UnreadableConfig(UnusableConfig):
    """The file cannot be read as one JSON object; `why` says what is in the way."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(file, why)
        self.file, self.why = file, why

    def __str__(self) -> str:
        return f"cannot read {self.file}: {self.why}"


class InvalidField(UnusableConfig):
    """One field is missing, wrong, or does not fit the others.

    Attributes:
        file: name of the file.
        name: the field, with a dot for one inside another.
        value: what is written there; None where nothing is.
        right: what would be right.
    """

    def __init__(self, file: str, name: str, value: object, right: str) -> None:
        super().__init__(file, name, value, right)
        self.file, self.name, self.value, self.right = file, name, value, right

    def __str__(self) -> str:
        said = f"{self.name} is missing" if self.value is None else f"{self.name} = {shown(self.value)}"
        return f"{self.file}: {said}: {self.right}"


class UnknownArchitecture(UnusableConfig):
    """No architecture of this name is known; `suggestions` are known ones that look alike."""

    def __init__(self, file: str, name: str, model_type: str, suggestions: tuple[str, ...]) -> None:
        super().__init__(file, name, model_type, suggestions)
        self.file, self.name, self.model_type, self.suggestions = file, name, model_type, suggestions

    def __str__(self) -> str:
        hint = f"did you mean {' or '.join(self.suggestions)}?" if self.suggestions else "its shape is not guessed"
        return f"{self.file}: {self.name} = {shown(self.model_type)} is no architecture known here; {hint}"


class UncoveredArchitecture(UnusableConfig):
    """The architecture is known, and has a part that no law counts; `why` names it."""

    def __init__(self, file: str, model_type: str, why: str) -> None:
        super().__init__(file, model_type, why)
        self.file, self.model_type, self.why = file, model_type, why

    def __str__(self) -> str:
        return f"{self.file}: the architecture {self.model_type} is not covered: {self.why}"


def shown(value: object) -> str:
    """Return a value as JSON, cut where it is long."""
    try:
        text = json.dumps(value, default=str)
    except (RecursionError, ValueError):  # deep nesting, or more digits than Python prints
        text = "a very large value"
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


@dataclass(slots=True)
class Fields:
    """The fields of one model, and which of them were used.

    Attributes:
        file: name of the file.
        model_type: the architecture.
        said: the fields.
        place: what stands before a name in messages: `text_config.` where the model is nested, else nothing.
        outer: the fields around a nested model.
        outer_tied: what these mean by silence on `tie_word_embeddings`; None where they mean nothing.
        used: what was read from the file, by its name there; null where a field says that there is no such part.
        defaults: what the file leaves out and the architecture determines.
        seen: names that have been asked for, whether or not the file has them.
    """

    file: str
    model_type: str
    said: Mapping[str, object]
    place: str = ""
    outer: Mapping[str, object] = field(default_factory=dict)
    outer_tied: bool | None = None
    used: dict[str, object] = field(default_factory=dict)
    defaults: dict[str, object] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    def size(self, name: str, *also: str, default: int | None = None, least: int = 1) -> int:
        """Return a count, under the first of its names that is written.

        Raises:
            InvalidField: it is no whole number in range, is missing and has no default, or its names disagree.
        """
        written = next((n for n in (name, *also) if self.said.get(n) is not None), name)
        value = self.said.get(written)
        for other in also:
            if self.said.get(other) not in (None, value):
                raise self.invalid(other, f"write {shown(value)}, as for {written}")
        if value is None and default is not None:
            return self.default(name, default)
        if type(value) is not int or not least <= value < TOO_MANY:
            raise self.invalid(written, f"write a whole number of at least {least} and under 10^18")
        return self._use(written, value)

    def optional(self, name: str, default: int | None = None, least: int = 1) -> int | None:
        """Return a count; None where the file says null, `default` where it says nothing."""
        if name in self.said and self.said[name] is None:
            return self._use(name, None)
        return self.default(name, default) if name not in self.said else self.size(name, least=least)

    def fixed(self, name: str, value: int) -> int:
        """Return a size that follows from others.

        Raises:
            InvalidField: the file says something else.
        """
        if self.size(name, default=value) != value:
            raise self.invalid(name, f"write {value}, which follows from the other sizes")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """Return a yes or no.

        Raises:
            InvalidField: it is neither true nor false, or null where silence means true.
        """
        value = self.said.get(name)
        if value is None and not (default and name in self.said):  # a class takes null for false
            return self.default(name, default)
        if not isinstance(value, bool):
            raise self.invalid(name, "write true or false")
        return self._use(name, value)

    def tied(self, *, default: bool) -> bool:
        """Return whether the output head is the embedding; for a nested model the fields around it decide.

        Raises:
            InvalidField: it is neither true nor false, or the two places disagree.
        """
        name = "tie_word_embeddings"
        around = self.outer.get(name)
        if around is None:
            within = self.flag(name, default=default)
            if self.outer_tied not in {None, within}:
                right = (
                    f"write it outside of {self.place.rstrip('.')} too, where it is {shown(self.outer_tied)} by default"
                )
                raise InvalidField(self.file, name, None, right)
            return within
        if not isinstance(around, bool):
            raise InvalidField(self.file, name, around, "write true or false")
        if self.said.get(name) is not None and self.said[name] is not around:
            raise self.invalid(name, f"write {shown(around)}, as outside of {self.place.rstrip('.')}")
        self.seen.add(name)
        self.used[name] = around
        return around

    def layer_kinds(self, layers: int, known: tuple[str, ...], name: str = "layer_types") -> list[str] | None:
        """Return the kind of each layer, or None where the file does not list them.

        Raises:
            InvalidField: it is no list with one text for each layer.
            UncoveredArchitecture: a kind is none of the known.
        """
        kinds = self.said.get(name)
        if kinds is None:
            return None
        if not isinstance(kinds, list) or len(kinds) != layers or not all(isinstance(kind, str) for kind in kinds):
            raise self.invalid(name, f"write a list of one text for each of the {layers} layers")
        strange = next((kind for kind in kinds if kind not in known), None)
        if strange is not None:
            raise self.uncovered(f"{self.place}{name} has {shown(strange)}, which no law counts")
        return self._use(name, kinds)

    def default(self, name: str, value: Value) -> Value:
        """Note what the architecture determines where the file says nothing."""
        self.seen.add(name)
        if value is not None:
            self.defaults[self.place + name] = value
        return value

    def ignore(self, *names: str) -> None:
        """Note fields that have no effect here, whatever they say."""
        self.seen.update(names)

    def invalid(self, name: str, right: str) -> InvalidField:
        """Return the complaint about a field."""
        return InvalidField(self.file, self.place + name, self.said.get(name), right)

    def uncovered(self, why: str) -> UncoveredArchitecture:
        """Return the complaint about a part that no law counts."""
        return UncoveredArchitecture(self.file, self.model_type, why)

    def refuse_the_rest(self) -> None:
        """Refuse what would change the shape and was not asked for.

        Raises:
            UncoveredArchitecture: there is such a field.
        """
        for name in STRUCTURAL:
            value = self.said.get(name)
            plain = isinstance(value, list) and all(kind == FULL for kind in value)
            if name not in self.seen and value and not plain:
                raise self.uncovered(f"it has no {self.place}{name}, and the file says {shown(value)}")

    def _use(self, name: str, value: Value) -> Value:
        self.seen.add(name)
        self.used[self.place + name] = value
        return value
