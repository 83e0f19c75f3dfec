/** Which previews of a dialog a key confirms, on terminals that answer late. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runCommand } from "../../../src/cli/commands/run/run.ts";
import type { ConsoleApp } from "../../../src/console/console-app.ts";
import { DialogPreview } from "../../../src/console/overlays/dialog-preview.ts";
import * as rowActions from "../../../src/console/parts/row-actions.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Opens a preview of a command. Each is made anew when `change` says that etcd has changed. */
async function openPreview() {
  const state = { snapshot: {}, runs: "a", made: 0, screen: 1 };
  vi.spyOn(rowActions, "runPreview").mockImplementation(() => {
    state.made += 1;
    return Promise.resolve({ affectedRuns: state.runs, revision: String(state.made) } as never);
  });
  const answers: (() => void)[] = [];
  const app = {
    liveView: {
      get snapshot() {
        return state.snapshot;
      },
      connection: { kind: "live" },
    },
    context: { clock: { now: () => performance.now() } },
    ports: {
      runWhenShown: (action: () => void) => answers.push(action),
      getScreenNumber: () => state.screen,
    },
    jobs: undefined,
    notifyChange: () => preview.onShown(),
  } as unknown as ConsoleApp;
  const preview = new DialogPreview(app, () => {});
  preview.request({ command: runCommand, items: [["x"]] });
  await vi.advanceTimersByTimeAsync(500);
  const change = async (runs = state.runs) => {
    Object.assign(state, { snapshot: {}, runs });
    await vi.advanceTimersByTimeAsync(1_500);
    preview.onShown();
    await vi.advanceTimersByTimeAsync(0);
  };
  /** Answers the oldest question. @param ms  how much time passes afterwards */
  const answer = async (ms = 500) => {
    answers.shift()?.();
    await vi.advanceTimersByTimeAsync(ms);
  };
  const getBound = () => preview.bound?.map(({ revision }) => revision);
  const takeScreen = () => {
    state.screen += 1;
  };
  return { preview, change, answer, getBound, takeScreen };
}

it("confirms the preview that the terminal has shown, although it was made again meanwhile", async () => {
  const { change, answer, getBound } = await openPreview();
  await change();
  await change();
  expect(getBound()).toBeUndefined();
  await answer();
  expect(getBound()).toEqual(["1"]);
  await answer();
  expect(getBound()).toEqual(["3"]);
});

it("confirms nothing that ends other runs than the preview on the terminal", async () => {
  const { change, answer, getBound } = await openPreview();
  await change("b");
  await answer(); // to the question before
  expect(getBound()).toBeUndefined();
  await answer();
  expect(getBound()).toEqual(["2"]);
});

it("confirms nothing that was shown before another program had the terminal", async () => {
  const { preview, answer, getBound, takeScreen } = await openPreview();
  await answer();
  expect(getBound()).toEqual(["1"]);
  takeScreen();
  expect(getBound()).toBeUndefined(); // for a key that was typed meanwhile
  preview.onShown();
  await answer();
  expect(getBound()).toEqual(["1"]);
});

it("confirms nothing by the answer to a question from before a key that came too early", async () => {
  const { preview, answer, getBound } = await openPreview();
  preview.onEarlyKey();
  preview.onShown();
  await answer();
  expect(getBound()).toBeUndefined();
  await answer();
  expect(getBound()).toEqual(["1"]);
});

it("does not confirm what the terminal has not shown, although its confirmation was typed", async () => {
  const { preview, answer, getBound } = await openPreview();
  preview.onConfirmationTyped();
  expect(getBound()).toBeUndefined();
  await answer(0);
  expect(getBound()).toBeUndefined();
  preview.onConfirmationTyped(); // who types it has read it
  expect(getBound()).toEqual(["1"]);
});

it("says that the terminal is late until it answers, also after keys that came too early", async () => {
  const { preview, answer } = await openPreview();
  expect(preview.isLate).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(preview.isLate).toBe(true);
  preview.onEarlyKey();
  preview.onShown();
  expect(preview.isLate).toBe(true);
  await answer();
  expect(preview.isLate).toBe(true);
  await answer();
  expect(preview.isLate).toBe(false);
});
