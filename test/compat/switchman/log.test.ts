import { expect, test } from "vitest";
import { SwitchmanLog } from "../../../src/compat/switchman/switchman.impl.ts";

function createLog() {
  const written: string[] = [];
  const writeStderr = (text: string) => void written.push(text);
  const log = new SwitchmanLog({ file: undefined, level: "warning", isDebugging: false, writeStderr });
  return { log, written };
}

const SENT = "Parent received SIGTERM, terminating child 7\nSent SIGTERM to 7\n";

test("a signal is reported when the command runs, also if it has arrived just before", () => {
  const early = createLog();
  early.log.reportSignal("SIGTERM");
  expect(early.written).toEqual([]);
  early.log.sink.info("started", { pid: 7 });
  expect(early.written).toEqual([SENT]);
  const late = createLog();
  late.log.sink.info("started", { pid: 7 });
  late.log.reportSignal("SIGTERM");
  late.log.reportSignal("SIGHUP");
  expect(late.written).toEqual([SENT]);
});
