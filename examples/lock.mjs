// One at a time, on all hosts: a lock that is held while a function runs.
import { BusyError, connect } from "signalbox";

const signalbox = await connect();

try {
  const report = await signalbox.withLock("nightly-report", async ({ signal, token }) => {
    // Whatever is written elsewhere carries the token, so that what comes late of an earlier holder can be refused.
    const rows = await fetchRows(signal);
    return `${rows} rows, written with token ${token}`;
  });
  console.log(report);
} catch (error) {
  if (!(error instanceof BusyError)) throw error;
  console.log("somebody else is at it:", error.message);
}
await signalbox.close();

async function fetchRows(signal) {
  signal.throwIfAborted(); // pass the signal on to fetch, to queries, to child processes
  return 3;
}
