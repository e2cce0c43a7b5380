"""What every right number of cache blocks has in common: whole blocks, of which the last may be partly filled."""

from grader.property import Clause, Named, PropertyFamily, Setting
from spec import quantities as q
from spec.memory import blocks_per_sequence, fits_in_blocks

blocks = Named(
    "blocks",
    "the number of blocks of a sequence",
    blocks_per_sequence,
    q.blocks_per_sequence,
    (q.context, q.block_size),
    ("floor((c + p - 1) / p)", "floor((c - 1) / p) + 1"),
)
NEXT = Clause("blocks(c + p) == blocks(c) + 1", "As many more tokens as a block holds take one more block.")
FIRST = Clause("blocks(1) == 1", "The first token takes a whole block.")

family = PropertyFamily(
    settings=(
        Setting(
            "An engine keeps the cache of a sequence in whole blocks of tokens.",
            (blocks,),
            "blocks(c) <= c",
            (NEXT, FIRST),
        ),
        Setting(
            "An engine keeps the cache of each sequence in whole blocks of tokens, and serves sequences of one length.",
            (
                Named(
                    "most",
                    "the largest number of sequences that fit",
                    fits_in_blocks,
                    q.concurrency,
                    (q.context, q.block_size, q.kv_budget, q.kv_bytes_per_block),
                    ("floor(floor(B_kv / K_b) / ceil(c / p))",),
                ),
                blocks,
            ),
            "most(c + x) <= most(c)",
            (
                Clause("most(blocks(c), p=1) == most(c)", "Sequences take whole blocks, however full the last one is."),
                Clause(
                    "most(c, p=1, B_kv=(x + 1/2)*c*K_b) == x",
                    "Memory for some sequences and half of another holds these and no other.",
                ),
                FIRST,
            ),
        ),
    ),
    objective="kv-cache-size",
    section="kv-cache",
)
