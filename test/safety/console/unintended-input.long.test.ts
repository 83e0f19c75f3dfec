/** Unintended input from a terminal has no effect. Keys can be configured. */

import { describe, expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { listAudits } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const { test } = TestCluster.startForFile();

/** A text in the list of keys. */
const HELP = "give the pane the whole screen";

/** Every one holds keys that would reset, drain, quit or confirm, were it taken apart. */
const HOSTILE = [
  "\x1b[1?5X\x1b[1 5D\x1b[<?q\x1b[99;99;99X", // bytes in the wrong order, and too many
  `\x1b[${"1;".repeat(200)}X`, // too long
  "\x1bO1;2;3;X\x1b[[q\x1b[[X", // SS3 and the Linux console's
  "\x1b]0;X\rinvoices\r\x07\x1bPq;D\rX\x1b\\\x1b_X\r\x1b\\\x1b^q\x1b\\", // OSC, DCS, APC, PM
  "\x1b[MXqD\x1b[M q!", // clicks of the old kind
  "\x1b[?62;22c\x1b[12;40R\x1b[?2026;1$y\x1b[8;50;160t", // answers
  "\x1b[88;1:3u\x1b[113;9u\x1b[3;5u\x1b[27;5;3~\x1b[1;300q", // keys let go, with Super, and such as there are none
  "\u009b1?5X\u0090q\x1b\\", // C1
  "\x1b[200~X\rinvoices\r\x1b[31mq\x03\x1b[201~", // a paste
  "\x1b\x1b[200~XqD\r\x1b[201~", // one right behind Escape
];

describe("unintended input", () => {
  test("does nothing, in one read and in many", async ({ namespace }) => {
    await namespace.jobs.startHolder("run", "--lock invoices");
    const console = await openConsole(namespace, { shows: /invoices .*held/ });
    console.type(HOSTILE.join(""));
    // Byte by byte: the tests of the parser. On a busy machine, an Escape can come so long before the rest that it is the key.
    for (const one of HOSTILE) console.type(one);
    await console.pressAndWait("?", HELP);
    await console.pressAndWait("escape", /^(?![\s\S]*give the pane)[\s\S]*invoices .*held/);
    const screen = console.getText();
    expect(screen).not.toContain("to confirm");
    expect(await listAudits(namespace)).toEqual([]);
    console.press("ctrl+c");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
  });
});

describe("keys that an operator wants otherwise", () => {
  test("hold, and what cannot be is said", async ({ namespace }) => {
    await namespace.jobs.startHolder("run", "--lock invoices");
    const wishes = { reset: "F5", help: "X", drain: "Ctrl+D" };
    const console = await openConsole(namespace, {
      env: { SIGNALBOX_KEY_BINDINGS: JSON.stringify(wishes) },
      shows: "drain: Ctrl+D is refused",
    });
    await console.waitFor(/invoices .*held/);
    await console.pressAndWait("X", HELP);
    await console.pressAndWait("escape", /^(?![\s\S]*give the pane)/);
    await console.pressAndWait("f5", "type invoices to confirm");
  });
});
