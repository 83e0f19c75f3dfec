/** Who waits for whom, as tables of queues. */
import { describe, expect, it } from "vitest";
import { listWaitChains } from "../../../src/model/insight/waits.ts";
import { formatWaitChain } from "../../../src/model/insight/waits-text.ts";
import type { KeyValue } from "../../../src/protocol/txn.ts";
import { keys } from "../../protocol/samples.ts";
import { NOW, pictureOf, plain, stand } from "../pictures.ts";

const held = (what: string, run: string, at: number) =>
  stand(what, run, at, { state: "held", grantedAt: NOW - 60_000 });
const waits = (what: string, run: string, at: number, since = 30_000) =>
  stand(what, run, at, { state: "waiting", enqueuedAt: NOW - since });

/** `a waits for b at lock x`, chain by chain. */
function describeChains(kvs: readonly KeyValue[]): string[] {
  return listWaitChains(pictureOf(kvs)).map(({ steps }) =>
    steps
      .map(({ kind, name, waiters, first, blockers }) => {
        const letter = ({ run }: { run: string }) => run[0];
        return `${waiters} ${letter(first)} at ${kind} ${name} for ${blockers.map(letter).join("+")}`;
      })
      .join(", "),
  );
}

describe("chains", () => {
  it.each<[string, KeyValue[], string[]]>([
    ["of nothing", [], []],
    ["of holders only", [held("lock x", "a", 1)], []],
    [
      "of one queue",
      [held("lock x", "a", 1), waits("lock x", "b", 2), waits("lock x", "c", 3)],
      ["2 b at lock x for a"],
    ],
    [
      "through a run that holds and waits",
      [
        held("lock x", "a", 1),
        waits("resource db", "a", 2),
        held("resource db", "h", 1),
        waits("lock x", "b", 3),
      ],
      ["1 b at lock x for a, 1 a at resource db for h"],
    ],
    [
      "through the first run of a queue that nobody holds",
      [
        waits("lock x", "a", 1),
        waits("lock x", "b", 2),
        waits("resource db", "a", 2),
        held("resource db", "h", 1),
      ],
      ["2 a at lock x for a, 1 a at resource db for h"],
    ],
    ["of a run that waits alone for what nobody holds", [waits("lock x", "a", 1)], ["1 a at lock x for "]],
    [
      "with several holders",
      [held("resource db", "a", 1), held("resource db", "b", 2), waits("resource db", "c", 3)],
      ["1 c at resource db for a+b"],
    ],
    [
      "the longest first, then the one with most runs",
      [
        held("lock y", "d", 1),
        waits("lock y", "e", 2),
        held("lock z", "g", 1),
        waits("lock z", "i", 2),
        waits("lock z", "k", 3),
        held("lock x", "a", 1),
        waits("resource db", "a", 2),
        held("resource db", "h", 1),
        waits("lock x", "b", 3),
      ],
      ["1 b at lock x for a, 1 a at resource db for h", "2 i at lock z for g", "1 e at lock y for d"],
    ],
    [
      "that form a circle, by hand, end",
      [held("lock x", "a", 1), waits("lock y", "a", 2), held("lock y", "b", 1), waits("lock x", "b", 2)],
      ["1 b at lock x for a, 1 a at lock y for b"],
    ],
    [
      "with a key that is no ticket",
      [plain(keys.lock("x", "byhand"), "x", 1), waits("lock x", "b", 2)],
      ["1 b at lock x for b"],
    ],
  ])("%s", (_, kvs, chains) => {
    expect(describeChains(kvs)).toEqual(chains);
  });

  it("are computed for many runs, and for a chain longer than any real one", () => {
    const many = Array.from({ length: 20_000 }, (_, at) => waits("lock x", `r${at}-`, at + 2));
    expect(listWaitChains(pictureOf([held("lock x", "a", 1), ...many]))).toHaveLength(1);
    const long = Array.from({ length: 5_000 }, (_, at) => [
      held(`lock l${at}`, `r${at}-`, 1),
      waits(`lock l${at + 1}`, `r${at}-`, 2),
    ]);
    const [first] = listWaitChains(pictureOf(long.flat()));
    expect(first?.steps.length).toBeLessThanOrEqual(100);
  });
});

it("is shown with what runs hold while they wait", () => {
  const kvs = [
    held("lock x", "a", 1),
    waits("resource db", "a", 2),
    held("resource db", "h", 1),
    waits("lock x", "b", 3),
  ];
  const [chain] = listWaitChains(pictureOf(kvs));
  expect(chain && formatWaitChain(chain, NOW).map(({ text }) => text)).toEqual([
    "lock x: 1 run waits",
    "  waits b.example.com:4711 invoices.sh for 30s",
    "  held by a.example.com:4711 invoices.sh for 1m, holds lock x and waits",
    "    resource db: 1 run waits",
    "      waits a.example.com:4711 invoices.sh for 30s, holds lock x and waits",
    "      held by h.example.com:4711 invoices.sh for 1m",
  ]);
});
