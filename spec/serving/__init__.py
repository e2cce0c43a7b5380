"""A server that is simulated iteration by iteration, from parts that can each be tested alone.

`request` is what comes, `workload`, `draws` and `trace` say where from; `cache` keeps blocks, `host` those that are
idle, `admission` lets in; `batching` and `scheduler` decide who works when, `timing` how long it takes; `server` puts
these together, `engine` runs them, and `metrics` says what came of it. `padding` is the closed form of a static
batch; `makespan` runs jobs that are all there from the start, and `eviction` a trace on a cache alone. `incident` is
the production story, and `scenarios` other failures with their cures; `watch` looks at a run.

Chat sessions are served by the same engine under a policy: `session_policy` is its language and `session_values` what
its fields may be, `session_workload` who comes; `session_desk` carries the policy out at the engine's queue, on what
`session_state` knows of each session; `sessions` plays it, and `session_measures` says what came of it.
"""
