// An adapter for `grade check --command "node examples/adapter.mjs"`: it answers questions about the three functions
// of a cache calculator, written here as a textbook prints them. What they lack is left as it is, for the suite to find.

import { createInterface } from "node:readline";

// The calculator

const bytesPerToken = ({ layers, hidden, width }) => 2 * layers * hidden * width;

const bytesOfSequence = (model, length) => length * bytesPerToken(model);

function sequencesThatFit(model, gpuMemory, weights, activations, length) {
  const left = gpuMemory - weights - activations;
  return Math.floor(left / bytesOfSequence(model, length));
}

// The adapter: quantities by name in, one number out. All heads together are the hidden size where none is told.

const allHeads = ({ layers, kv_heads, head_dim }, width) => ({ layers, hidden: kv_heads * head_dim, width });

const functions = {
  kv_bytes_per_token_approx: {
    takes: ["layers", "hidden", "kv_width"],
    gives: (q) => bytesPerToken({ ...q, width: q.kv_width }),
  },
  kv_bytes_per_token: {
    takes: ["layers", "hidden", "kv_heads", "head_dim", "kv_width"],
    gives: (q) => bytesPerToken({ ...q, width: q.kv_width }),
  },
  kv_bytes_per_sequence: {
    takes: ["layers", "kv_heads", "head_dim", "kv_width", "context"],
    gives: (q) => bytesOfSequence(allHeads(q, q.kv_width), q.context),
  },
  // The calculator knows one width, that of a parameter.
  concurrency: {
    takes: [
      "gpu_memory", "weights", "activations", "safety_margin",
      "layers", "kv_heads", "head_dim", "weight_bits", "kv_width", "context",
    ],
    gives: (q) =>
      sequencesThatFit(allHeads(q, q.weight_bits / 8), q.gpu_memory, q.weights, q.activations, q.context),
  },
};

// The protocol: one JSON object a line, numbers as text.

const number = (text) => text.split("/").map(Number).reduce((over, under) => over / under);

function answer(question) {
  if (question.describe) {
    const taken = Object.entries(functions).map(([name, { takes }]) => [name, takes]);
    return { name: "adapter.mjs", functions: Object.fromEntries(taken) };
  }
  const given = Object.entries(question.with).map(([name, text]) => [name, number(text)]);
  const value = functions[question.call].gives(Object.fromEntries(given));
  return Number.isFinite(value) ? { value: String(value) } : { none: true };
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
