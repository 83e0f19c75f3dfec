import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AlertNotifier, Alerts, chooseChannels } from "../../src/console/alerts.ts";
import type { WatchedRow } from "../../src/console/state/watched-rows.ts";
import { formatDesktopNotification, formatWindowTitle } from "../../src/console/terminal/output-sequences.ts";
import type { KeyValue } from "../../src/core/protocol/txn.ts";
import { drainOf, NOW, stand } from "../site/state/pictures.ts";
import { SnapshotFollower } from "../site/state/snapshot-follower.ts";

/** Reads locks and drains one after the other. @returns what is told of the watched row after so many ms */
function watch(row: WatchedRow) {
  const follower = new SnapshotFollower();
  const alerts = new Alerts();
  let now = 0;
  const check = (after: number, ...kvs: KeyValue[]) => {
    now += after;
    return alerts.check([row], follower.read(...kvs), NOW, now)?.text;
  };
  check(0);
  return check;
}

const LOCK: WatchedRow = { kind: "lock", name: "x" };
const held = stand("lock x held", "a", 1);
const waiting = stand("lock x", "b", 2);
const other = stand("lock x held", "b", 2);

describe("a watched lock", () => {
  it("is told of when it is granted, released, and granted to another", () => {
    const check = watch(LOCK);
    expect([
      check(10_000, held),
      check(10_000, held, waiting),
      check(10_000, other),
      check(10_000),
      check(10_000),
    ]).toEqual([
      "lock x: held by a.example.com, nobody waits",
      "lock x: held by a.example.com, 1 wait",
      "lock x: held by b.example.com, nobody waits",
      "lock x: free, nobody waits",
      undefined,
    ]);
  });

  it("is told of at most once in two seconds; what happened meanwhile is counted", () => {
    const check = watch(LOCK);
    expect([check(10, held), check(500), check(500, other), check(999, other)]).toEqual([
      expect.any(String),
      undefined,
      undefined,
      undefined,
    ]);
    expect(check(1, other)).toMatch(/^2 changes, last: lock x: held by b/);
    expect(check(10_000, other)).toBeUndefined();
  });

  it("is not told of for what happens to other rows", () => {
    expect(watch({ kind: "lock", name: "other" })(10_000, held)).toBeUndefined();
  });
});

it("a watched drain is told of when it begins and when it is lifted", () => {
  const check = watch({ kind: "drain", scope: "host", name: "web1" });
  expect(check(10_000, drainOf("host", "web1"))).toMatch("web1: drained");
  expect(check(10_000)).toBe("drain host web1: lifted");
});

describe("notifications outside the screen", () => {
  it("cannot be left by what comes from etcd", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (hostile) => {
        const text = `lock ${hostile}\x1b]0;x\x07\x9c\x1b\\\x9d52;c;AAAA\x07: held`;
        for (const sequence of [formatDesktopNotification(text), formatWindowTitle(text)]) {
          const inner = sequence.replaceAll(/\x1b\](?:9|777|2);([^\x00-\x1f\x7f-\x9f]*)\x1b\\/g, "");
          expect(inner).toBe("");
        }
      }),
    );
    expect(formatDesktopNotification("4;3;100")).toContain("\x1b]9;signalbox: 4;3;100");
  });

  it("use only the ways that are wanted, and on simple terminals only the bell", () => {
    const all = { bell: true, desktop: true, title: true };
    const none = { bell: false, desktop: false, title: false };
    expect(chooseChannels(["all"], "xterm-256color", false)).toEqual(all);
    expect(chooseChannels(["off"], "xterm-256color", false)).toEqual(none);
    expect(chooseChannels(["title"], "xterm", false)).toEqual({ ...none, title: true });
    expect(chooseChannels(["bell", "title"], "xterm", false)).toEqual({ ...all, desktop: false });
    expect(chooseChannels(["all"], "linux", false)).toEqual({ ...none, bell: true });
    expect(chooseChannels(["all"], "xterm", true)).toEqual({ ...none, bell: true });
  });

  function createNotifier(channels: ReturnType<typeof chooseChannels>) {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    return { written, notifier: new AlertNotifier({ write, channels, name: "/prod/", sign: "● " }) };
  }

  it("count the news in the title, and restore it once", () => {
    const { written, notifier } = createNotifier({ bell: true, desktop: false, title: true });
    notifier.restoreTitle();
    notifier.notify({ text: "x", changes: ["x"] });
    notifier.notify({ text: "2 changes, last: y", changes: ["x", "y"] });
    notifier.restoreTitle();
    notifier.restoreTitle();
    expect(written).toEqual([
      "\x1b[22;2t\x1b]2;● 1 news - signalbox /prod/\x1b\\\x07",
      "\x1b]2;● 3 news - signalbox /prod/\x1b\\\x07",
      "\x1b[23;2t",
    ]);
  });

  it("are silent if all ways are off", () => {
    const { written, notifier } = createNotifier(chooseChannels(["off"], "xterm", false));
    notifier.notify({ text: "x", changes: ["x"] });
    notifier.restoreTitle();
    expect(written).toEqual([]);
  });
});
